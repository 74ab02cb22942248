//! The tables that tasks are held against. Everything is in lower case, without punctuation, words divided by one space.
//!
//! Adding to a table: what asks for more may be added freely; what asks for less (greetings, questions) only where it can
//! begin nothing else, since it makes words count as an answer.

/// Words or phrases, divided by commas: a list of texts would take a line for each.
pub(super) type Phrases = &'static str;

/// The phrases of a table, each as its words.
pub(super) fn listed(phrases: Phrases) -> impl Iterator<Item = &'static str> {
    phrases.split(", ")
}

/// Whether the table holds the word.
pub(super) fn holds(phrases: Phrases, word: &str) -> bool {
    listed(phrases).any(|phrase| phrase == word)
}

/// Contractions and what they stand for.
pub(super) const CONTRACTIONS: &[(&str, &str)] = &[
    ("don't", "do not"),
    ("dont", "do not"),
    ("can't", "can not"),
    ("cannot", "can not"),
    ("doesn't", "does not"),
    ("didn't", "did not"),
    ("isn't", "is not"),
    ("aren't", "are not"),
    ("won't", "will not"),
    ("wouldn't", "would not"),
    ("couldn't", "could not"),
    ("i'd", "i would"),
    ("i'm", "i am"),
    ("you're", "you are"),
    ("it's", "it is"),
    ("that's", "that is"),
    ("there's", "there is"),
    ("let's", "let us"),
    ("whats", "what is"),
    ("wheres", "where is"),
];

/// Words that join clauses, one of which may only go on with what the other says.
pub(super) const JOINTS: Phrases = "and, but, or, also, und, aber, et, mais, pero, y, e, и, och, ve";
/// Words after which something new is asked for.
pub(super) const SUCCESSIONS: Phrases = "\
    then, afterwards, finally, dann, danach, puis, ensuite, luego, después, poi, depois, потом, затем";

/// What a sentence may begin with and mean nothing by it.
pub(super) const COURTESIES: Phrases = "\
    please, kindly, robot, cortex, hey robot, ok, okay, so, well, now, just, first, next, go ahead, bitte, por \
    favor, per favore, s'il te plaît, s'il vous plaît, пожалуйста, let us, i want you to, i would like you to, i \
    need you to, you should, you must, your task is to";
/// What a sentence may end with and mean nothing by it.
pub(super) const TRAILS: Phrases = "please, robot, now, thanks, bitte, danke, merci, gracias, пожалуйста";

/// Greetings and thanks.
pub(super) const GREETINGS: Phrases = "\
    hello, hi, hey, hiya, howdy, greetings, good morning, good afternoon, good evening, good night, good day, thank \
    you, thanks, cheers, bye, goodbye, good bye, see you, see you later, see you soon, see you tomorrow, see you then, well done, good job, good \
    robot, nice to meet you, welcome, sorry, never mind, nevermind, hallo, guten tag, guten morgen, guten abend, \
    gute nacht, danke, danke schön, vielen dank, tschüss, servus, bonjour, bonsoir, salut, merci, merci beaucoup, au \
    revoir, hola, buenos días, buenas tardes, buenas noches, gracias, muchas gracias, muchísimas gracias, grazie mille, mille grazie, muito obrigado, muito obrigada, dank je wel, dank u wel, спасибо большое, большое спасибо, dziękuję bardzo, bardzo dziękuję, tack så mycket, tusen takk, adiós, ciao, buongiorno, \
    buonasera, grazie, arrivederci, olá, bom dia, boa tarde, obrigado, obrigada, hoi, goedemorgen, dank je, bedankt, \
    hej, tack, god morgon, hei, kiitos, takk, cześć, dzień dobry, dziękuję, ahoj, děkuji, merhaba, teşekkürler, \
    teşekkür ederim, günaydın, привет, здравствуйте, здравствуй, спасибо, доброе утро, пока, привіт, дякую, γεια \
    σου, καλημέρα, ευχαριστώ, שלום, תודה, مرحبا, شكرا, السلام عليكم, नमस्ते, धन्यवाद, 안녕하세요, 안녕, 감사합니다, xin chào, \
    cảm ơn, halo, terima kasih";
/// Whom a greeting may be addressed to, and how much it is meant.
pub(super) const ADDRESSES: Phrases = "\
    robot, cortex, there, you, all, everyone, everybody, again, my, dear, friend, buddy, very, so, much, a, lot, \
    for, your, help, that, roboter, alle, zusammen, le, el, amigo, mon, ami";
/// Questions that are no research: whole sentences.
pub(super) const SMALLTALK: Phrases = "\
    that is all, that was all, that will be all, that is all for now, that is it, that is it for now, that is everything, \
    nothing else, no worries, which rooms do you know, what rooms do you know, which places do you know, what places do \
    you know, where can you go, \
    tell me a joke, tell me a story, tell us a joke, tell us a story, tell me another joke, do you like music, do you \
    like me, do you like it here, are you happy, are you tired, are you ok, are you okay, are you alive, are you human, \
    are you a human, are you real, are you bored, are you awake, how old are you, how was your day, how is your day, \
    what is new, what is your favourite colour, what is your favorite color, where do you come from, who are your \
    makers, do you dream, can you talk, can you speak, can you hear me, can you understand me, do you understand me, i \
    love you, i like you, you are great, you are funny, you are nice, you are the best, nice weather today, good to see \
    you, nice to see you, how nice, great, wonderful, very good, very nice, perfect, awesome, excellent, wer hat dich \
    gebaut, wie alt bist du, bist du ein roboter, erzähl mir einen witz, geht es dir gut, comment tu t'appelles, \
    comment t'appelles tu, quel âge as tu, raconte moi une blague, comment vas tu, cómo te llamas, qué tal, cuéntame un \
    chiste, cuántos años tienes, come ti chiami, quanti anni hai, raccontami una barzelletta, como te chamas, qual é o \
    teu nome, qual é o seu nome, como estás, como vai, tudo bem, quem és tu, quem é você, conta me uma piada, hoe gaat \
    het, hoe heet je, wie ben je, wat kun je, vertel me een grap, как тебя зовут, расскажи шутку, сколько тебе лет, ты \
    робот, jak się masz, jak masz na imię, kim jesteś, co umiesz, opowiedz mi dowcip, nasılsın, adın ne, sen kimsin, ne \
    yapabilirsin, bana bir fıkra anlat, 이름이 뭐야, 잘 지내, 넌 누구야, 뭘 할 수 있어, 농담 하나 해줘, ما اسمك, كيف حالك, من أنت, ماذا \
    تستطيع أن تفعل, आप कैसे हैं, तुम कौन हो, तुम्हारा नाम क्या है, jak se máš, kdo jsi, hur mår du, vem är du, kuka olet, \
    how are you, how are you today, how are you doing, how do you do, how is it going, who are you, what are you, \
    who made you, who built you, what is your name, do you have a name, are you a robot, are you there, what can you \
    do, what can you do for me, what do you do, what are you able to do, what are your abilities, what are your \
    skills, what are your capabilities, what are your tools, what are your commands, what else can you do, what \
    tools do you have, which tools do you have, what you can do, tell me what you can do, tell what you can do, show \
    me what you can do, show your tools, show me your tools, list your tools, list your abilities, list your skills, \
    list your commands, list commands, list tools, tell me about yourself, introduce yourself, help, help me, tell \
    me your name, tell me who you are, how can you help me, can you help me, what is up, wer bist du, wie heißt du, \
    wie geht es dir, wie geht's, was kannst du, was kannst du tun, hilfe, qui es tu, comment ça va, ça va, que peux \
    tu faire, quién eres, cómo estás, qué puedes hacer, chi sei, come stai, cosa puoi fare, кто ты, как дела, что ты \
    умеешь";

/// After these an order follows, in the form of a question or a wish.
pub(super) const REQUESTS: Phrases = "\
    can anyone, can anybody, can someone, can somebody, could anyone, could anybody, could someone, could somebody, \
    would anyone, would anybody, would someone, would somebody, will anyone, will anybody, will someone, will somebody, \
    may we, may i have, what about, how would you like to, why can not you, can i have, could i have, can i get, \
    can you, can you please, could you, could you please, will you, will you please, would you, would you please, \
    would you mind, do you mind, can we, could we, shall we, should we, may i ask you to, why do not you, why do you \
    not, why not, how about, is it possible to, is it possible for you to, are you able to, would it be possible to, \
    do you think you could, can i ask you to, i would like to, i want to, you can, you could, are you going to, do \
    you want to, would you like to";
/// Orders in the form of a question, elsewhere.
pub(super) const REQUESTS_ELSEWHERE: Phrases = "\
    kannst du, könntest du, können sie, könnten sie, würdest du, würden sie, magst du, wollen wir, sollen wir, peux \
    tu, pouvez vous, pourrais tu, pourriez vous, veux tu, voulez vous, tu peux, vous pouvez, puedes, puede, podrías, \
    podría, podemos, quieres, puoi, può, potresti, potrebbe, vuoi, pode, podes, poderia, podia, kun je, kunt u, zou \
    je, wil je, kan du, kunne du, skulle du, vill du, voitko, możesz, mógłbyś, mogłabyś, czy możesz, můžeš, můžete, \
    mohl bys, можешь, можете, мог бы, могли бы, не мог, можеш, μπορείς, μπορείτε, هل يمكنك, يمكنك, هل تستطيع, तुम, \
    क्या आप, क्या तुम, bisa, bisakah, tolong, misin, mısın, misiniz, mısınız, musun, müsün, musunuz, müsünüz";

/// Prohibitions.
pub(super) const PROHIBITIONS: Phrases = "\
    do not, never, do not ever, please do not, you must not, must not, you may not, no longer";

/// Deeds that are omissions: not to do them is to do something.
pub(super) const OMISSIONS: Phrases = "leave, stop, halt, wait, stay, let, keep, hold, pause, sleep";

/// What is spoken follows, in the person's own words.
pub(super) const SPEECH: Phrases = "\
    say, announce, speak, shout, whisper, greet, tell everyone, tell everybody, tell the, tell my, tell him, tell \
    her, tell them, tell a, tell people, tell all, tell anyone, ask the, ask my, ask him, ask her, ask them, ask \
    everyone, sing, recite, repeat";

/// Verbs of what a robot does.
pub(super) const DEEDS: Phrases = "\
    go, drive, move, come, return, head, walk, run, fly, navigate, travel, proceed, roll, turn, rotate, spin, back, \
    reverse, approach, follow, lead, guide, escort, leave, enter, visit, cross, climb, dock, undock, park, stop, \
    halt, wait, stay, stand, sit, start, begin, continue, pause, resume, bring, fetch, get, take, carry, deliver, \
    hand, give, grab, grasp, grip, pick, hold, lift, raise, lower, put, place, drop, release, throw, push, pull, \
    press, touch, reach, point, wave, nod, shake, dance, jump, open, close, shut, lock, unlock, switch, light, dim, \
    set, reset, adjust, change, increase, decrease, make, do the, do a, do your, do my, clean, tidy, vacuum, sweep, \
    mop, wash, wipe, cook, pour, serve, feed, water, sort, stack, pack, build, cut, draw, write, paint, play, \
    record, save, store, send, call, calibrate, charge, recharge, restart, reboot, shut down, sleep, wake, map, \
    explore, patrol, search, guard, survey, tour, report to, read aloud, help, try, use, attach, remove, clear, \
    empty, fill, exit, perform, execute, activate, deactivate, enable, disable, warn, remind, keep, let, rename";
/// Verbs of deeds that are done at several places by their meaning.
pub(super) const ROUNDS: Phrases = "\
    patrol, explore, survey, tour, go around, make a round, make your rounds, do a round, search the house, search \
    the building, search the floor";

/// Verbs of looking for something: an order, of which a look is the deed.
pub(super) const SEARCHES: Phrases = "find, locate, look for, search, search for, search the, spot, seek";
/// Verbs of looking somewhere: in several places they are a tour.
pub(super) const LOOKS: Phrases = "\
    check each, check every, check all, look in, look into, look around every, inspect each, inspect every, inspect \
    all, look everywhere";

/// Verbs of telling, reading and looking, that ask for words.
pub(super) const INQUIRIES: Phrases = "\
    take a look, have a look, see what, see if, see who, see whether, see where, see how, find out what, find out \
    whether, find out if, find out where, find out who, find out how, find out which, tell me, tell us, let me know, let \
    us know, i want to know, i would like to know, i wonder whether, i wonder what, i wonder who, i wonder where, i need \
    to know, show me what, show me how many, show me how much, show me how full, show me the status, show me your \
    status, show me your position, give me the status, give me your status, give me your position, give me a report, \
    give me an overview, give me a summary, answer the question, answer my question, answer whether, answer what, answer \
    which, answer who, answer where, answer how, describe, explain, report what, report whether, report where, report \
    how, report who, report which, report the status, report your, report on, list, read, check, inspect, examine, \
    look, look at, look around, count, identify, recognise, recognize, compare, estimate, guess, summarise, summarize, \
    translate, recall what, recall where, can i, sag mir, sagen sie mir, zeig mir was, beschreibe, \
    erkläre, dis moi, dites moi, décris, explique, dime, dígame, explica, dimmi, descrivi, diga me, me diga, vertel me, \
    beschrijf, powiedz mi, скажи мне, скажи, расскажи, опиши";

/// Verbs before the name of a reading. A part of the robot alone is none: "get the battery" may be carried out.
pub(super) const FETCHED: Phrases = "get, get me, give me, show, show me, query, request, display, print";

/// Words with which nothing but a question begins.
pub(super) const INTERROGATIVES: Phrases = "\
    what, which, who, whose, whom, why, how, where is, where are, where do, where does, where did, where am, where \
    was, where can, when is, when are, when do, when does, when did, when was, when will, is there, are there, is \
    it, is the, is a, is an, is any, is anyone, is anybody, is anything, is somebody, is someone, is your, is my, \
    are you, are we, are the, are your, am i, was the, was there, were there, do you see, do you hear, do you know, \
    do you have, do you think, do we have, does the, does it, does anyone, does anybody, did you, did the, did \
    anyone, did anybody, have you, has the, has anyone, has anybody";
/// The same, elsewhere.
pub(super) const INTERROGATIVES_ELSEWHERE: Phrases = "\
    wo ist, wo bist, wo sind, wer ist, was siehst, \
    was ist, wie viel, wie viele, warum, weshalb, où est, où es, où sont, pourquoi, combien, que vois, qu'est ce \
    que, est ce que, dónde está, dónde estás, qué ves, qué hay, cuánto, cuánta, cuántos, cuántas, por qué, dove sei, \
    dov'è, cosa vedi, quanto, quanti, perché, onde está, o que, quantos, где, кто, почему, сколько, что ты видишь, \
    gdzie, dlaczego, ile, nerede, kaç";
/// Words with which a question begins where a question mark says so.
pub(super) const INTERROGATIVES_IF_ASKED: Phrases = "\
    what, which, who, why, how, where, when, there, it, that, is, are, was, were, do, does, did, am, have you, have \
    they, have we, has, had, should i, may i, is not, are not, was not, does not, did not, has not, will it, will there, \
    will the weather, any, anyone here, anyone there, anyone in, anyone at, anyone home, anybody here, anybody there, \
    anybody in, anybody at, anybody home";
/// With one of these anywhere a sentence asks for a deed, whatever it begins with.
pub(super) const ASKS_FOR_A_DEED: Phrases = "\
    please, could, would, let us, mind, possible, chance, you to, so kind, so good, be able, able to, willing to, up for, \
    ready to, time to, about time, do you say we, volunteer, volunteers, what if, need to, needs to, have to, has to, who can, who will, who wants, going to, feel like, kind \
    enough, if not, otherwise";
/// To whom something is told or shown: a deed.
pub(super) const FOR_OTHERS: Phrases = "\
    to the guest, to the guests, to the visitor, to the visitors, to him, to her, to them, to everyone, to everybody, to \
    the children, to the kids, to the people, to my, to our, to mr, to mrs, aloud, out loud, loudly, loud";
/// Small words after "check" and the like, with which something else is meant.
pub(super) const PARTICLES: Phrases =
    "in, out, off, through, into, after, up, down, over, back, to, me, us, forward, away";

/// Verbs of perception: what is asked for is outside of the robot.
pub(super) const PERCEIVES: Phrases = "see, hear, smell, notice, recognise, recognize, detect";
/// The same, and words of what is perceived.
pub(super) const PERCEPTIONS: Phrases = "\
    see, seen, saw, hear, heard, smell, feel, look, looking, watch, watching, notice, recognise, recognize, detect, \
    visible, in front of, behind you, next to you, around you, siehst, vois, ves, vedi";

/// Parts of a robot.
pub(super) const BODY: Phrases = "\
    battery, batteries, charge, charging, charged, odometry, wheel, wheels, gripper, grippers, motor, motors, joint, \
    joints, firmware, uptime, cpu, wifi, lidar, sensor, sensors, diagnostics, components, component, software \
    version, akku, akkustand, batterie, ladestand, batería, bateria, batteria, akkumulator, akumulator, батарея, \
    батарею, батареи, аккумулятор, заряд, pil, şarj, baterai, بطارية, البطارية, बैटरी, 배터리, 배터리는";
/// What can be read of the robot, where nothing else is named.
pub(super) const READINGS: Phrases = "\
    status, state, health, level, position, pose, location, speed, temperature, voltage, percentage, report";
/// Phrases that speak of the robot.
pub(super) const ITSELF: Phrases = "\
    are you, you are, where you, your status, your state, your health, your position, your pose, your location, your \
    speed, your temperature, your version, your memory, your parameters, your arm, your camera, your cameras, your \
    speaker, your microphone, your tools, your hardware, your software, yourself, wo bist, bist du, où es tu, es tu, \
    dónde estás, estás, dove sei, onde está, где ты, ты где, are we, robot's";

/// Words that carry nothing in the name of a thing.
pub(super) const ARTICLES: Phrases = "\
    the, a, an, your, my, this, that, every, each, any, of, der, die, das, den, dem, dein, le, la, el, il";
/// Words before a place.
pub(super) const PLACES_BEFORE: Phrases = "\
    on, in, at, under, behind, beside, near, inside, above, below, into, from";

/// More places than one.
pub(super) const SEVERAL_PLACES: Phrases = "\
    each room, every room, all rooms, all the rooms, all of the rooms, each of the rooms, every single room, the \
    rooms, each place, every place, all places, all the places, each location, every location, all locations, \
    everywhere, room by room, from room to room, one room after another, each floor, every floor, all floors, each \
    station, every station, all stations, each waypoint, every waypoint, all waypoints, each door, every door, all \
    doors, all the doors, each table, every table, all tables, each shelf, every shelf, all shelves, the whole \
    house, the whole building, the whole flat, the house, the building, jeden raum, alle räume, alle zimmer, jedes \
    zimmer, überall, chaque pièce, toutes les pièces, partout, cada habitación, todas las habitaciones, ogni stanza, \
    tutte le stanze, todos os quartos, все комнаты, каждую комнату";

/// What is wanted to be told comes later.
pub(super) const NOTICES: Phrases = "\
    tell me when, tell us when, tell me as soon as, tell me once, let me know when, let us know when, let me know as soon as, \
    let me know once, notify me, notify us, alert me, alert us, warn me";
/// These ask for a time.
pub(super) const HOW_LONG: Phrases =
    "how long until, how long till, long until, how much time until, how many minutes until";

/// "until", in languages in which it says nothing else.
pub(super) const UNTIL: Phrases = "\
    until, till, as long as, so lange bis, solange, jusqu'à ce que, jusqu'à ce qu, tant que, hasta que, finché, até \
    que, пока не, до тех пор, totdat, tills, dopóki, dokud";
/// "until", in scripts without spaces.
pub(super) const UNTIL_UNSPACED: Phrases = "直到, なるまで, るまで";
/// After "bis": it is said of a place.
pub(super) const BIS_WHERE: Phrases = "\
    zu, zum, zur, nach, an, ans, in, ins, auf, vor, hierher, dahin, später, bald, morgen";
/// Until somebody ends it.
pub(super) const UNTIL_TOLD: Phrases = "\
    until i say, until i tell, until i stop, until i cancel, until i call, until told, until you are told, until \
    stopped, until cancelled, until canceled, until someone stops, until somebody stops, until further notice, until \
    we say, until we tell, till i say, till i tell, bis ich stopp, bis ich halt, bis ich es sage, bis auf weiteres, \
    jusqu'à nouvel ordre, hasta que te diga, hasta nuevo aviso";
/// Without any end.
pub(super) const WITHOUT_END: Phrases = "\
    forever, for ever, endlessly, continuously, constantly, all day, all night, from now on, whenever, every time, \
    each time, non stop, nonstop, without end, again and again, over and over, on and on, immer wieder, für immer, \
    ständig, sans arrêt, toujours, sin parar, siempre, senza sosta, постоянно, всегда";

/// Greetings in scripts without spaces, as whole sentences.
pub(super) const GREETINGS_UNSPACED: Phrases = "\
    你好, 您好, 谢谢, 謝謝, 再见, 早上好, こんにちは, こんばんは, おはよう, おはようございます, ありがとう, ありがとうございます, さようなら, สวัสดี, ขอบคุณ";
/// With these a sentence ends that asks, with or without a mark.
pub(super) const ASKING_ENDS_UNSPACED: Phrases = "吗, 嗎, 呢, ですか, ますか, 何, どこ, ไหม, หรือ";
/// Parts of a robot in scripts without spaces.
pub(super) const BODY_UNSPACED: Phrases = "电池, 电量, 電池, 電量, バッテリー, 充電, แบตเตอรี่, 你在哪, あなたはどこ";
