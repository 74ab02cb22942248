//! How languages other than English ask, and how they ask for a deed in the form of a question.
//!
//! A sentence is a question only where a word of a language opens it as one and no word of that language asks for a deed.
//! One word may open questions of several languages ("wie" is "how" and "who"): then none of them may ask for a deed.

use super::words::Phrases;

/// The words of one language, or of a few that share them.
pub(super) struct Language {
    /// Words with which a question begins.
    pub(super) opens: Phrases,
    /// Words anywhere in a sentence with a question mark that make it ask how something is.
    pub(super) states: Phrases,
    /// Words that ask for a deed, wherever they stand.
    pub(super) requests: Phrases,
    /// With one of the first anywhere at the beginning and one of the second anywhere a deed is proposed: "why don't you".
    pub(super) reasons: Phrases,
    pub(super) negations: Phrases,
}

pub(super) const LANGUAGES: &[Language] = &[
    // German.
    Language {
        opens: "\
            wer ist, wer sind, wer war, wer hat, wer steht, wer sitzt, wer liegt, wer wartet, wer ruft, wer spricht, wer \
            wohnt, wie, wo, wann, was, welche, welcher, welches, welchen, woher, warum, wieso, weshalb, wessen, ist, sind, \
            war, waren, hat, hatte, hast du, bist du, gibt es, gibt's, steht, stehen, liegt, liegen, brennt, läuft, \
            funktioniert, siehst du, hörst du, weißt du, kennst du, riechst du, erkennst du, sehen sie, hören sie, \
            wissen sie",
        states: "ist, sind, war, waren",
        requests: "\
            bitte, könnte, könnten, könntest, könntet, kann, kannst, können, könnt, würde, würden, würdest, würdet, möchte, \
            möchten, möchtest, magst, mögen, willst, wollen, will, wollt, sollen, sollte, solltest, soll, darf, muss, \
            musst, müssen, müsste, bereit, lust, zeit, wäre, wärst, möglich, hältst, bock, lässt, lass, zu, wenn, mir, \
            uns, damit, wird, werden, wirst",
        reasons: "warum, wieso, weshalb, was spricht",
        negations: "nicht, nie, dagegen, niemand, keiner",
    },
    // French.
    Language {
        opens: "\
            qui, que vois, que voyez, que voit, qu'est, qu'y, quoi, quand, comment, quel, quelle, quels, quelles, combien, \
            pourquoi, où, est ce que, est ce qu'il, est ce qu'elle, y a t il, vois tu, voyez vous, entends tu, sais tu, \
            savez vous, es tu, êtes vous, as tu, est il, est elle, il y a, dans quelle, sur quelle, à quelle, de quelle",
        states: "est, sont, était",
        requests: "\
            s'il te plaît, s'il te plait, s'il vous plaît, s'il vous plait, stp, svp, pourrait, pourriez, pourrais, \
            pourrions, peut, peux, pouvez, pouvons, peuvent, veux, voulez, veut, voudrait, voudrais, voudriez, pourras, \
            possible, temps, heure de, faut, devrait, devrais, dois, doit, dirait, dérangerait, si, moyen, accepterais, \
            sinon, que tu, que vous, me, ne pas, capable, prêt, serait, ça te, ça vous, va",
        reasons: "pourquoi, qui",
        negations: "pas, personne, m'aide, nous",
    },
    // Spanish.
    Language {
        opens: "\
            quién, quiénes, qué, cómo, cuál, cuáles, cuándo, cuánto, cuánta, cuántos, cuántas, dónde, por qué, hay, está, \
            están, estás, es, son, eres, tienes, ves, oyes, sabes, funciona, queda, quedan, en qué, de qué, a qué",
        states: "está, están, es, son",
        requests: "\
            por favor, puede, puedes, pueden, podría, podrías, podrían, podemos, podéis, quieres, quiere, querría, \
            querrías, posible, esperas, hora de, momento de, debes, debe, debería, deberías, hace falta, te importa, te importaría, \
            qué tal si, qué tal, me, nos, si, alguien puede, alguien que, capaz, dispuesto, va a, vas a, tal si",
        reasons: "por qué, quién",
        negations: "no, me, nos",
    },
    // Italian.
    Language {
        opens: "\
            chi, che cosa, che, cosa, come, quale, quali, quando, quanto, quanta, quanti, quante, dove, dov'è, perché, \
            c'è, ci sono, è, sono, sei, hai, vedi, senti, sai, in quale, in che, a che, di che",
        states: "è, sono, era",
        requests: "\
            per favore, per piacere, può, puoi, possono, potrebbe, potresti, potrebbero, possiamo, potete, vuoi, vuole, \
            vorresti, vorrebbe, possibile, ora di, momento di, deve, devi, dovrebbe, dovresti, dispiace, dispiacerebbe, \
            dici, ne, mi, se, che tu, capace, pronto a, qualcuno che, bisogna, altrimenti, va di",
        reasons: "perché, chi, cosa",
        negations: "non, mi, ci, aspetti",
    },
    // Portuguese.
    Language {
        opens: "\
            quem, qual, quais, quando, onde, o que, quanto, quanta, quantos, quantas, por que, porque, como, há, tem \
            alguém, está, estão, estás, é, são, és, vês, você vê, sabes, você sabe, em que, de que, que horas",
        states: "está, estão, é, são",
        requests: "\
            por favor, faz favor, se faz favor, pode, podes, podem, poderia, poderias, poderiam, podia, podias, podemos, \
            queres, quer, quererias, possível, hora de, altura de, deves, deve, devia, importas, importa, importaria, \
            que tal, dá para, dava para, senão, me, nos, se, alguém que, capaz, vai, vais, vamos",
        reasons: "por que, porque, quem",
        negations: "não, me, nos",
    },
    // Dutch.
    Language {
        opens: "\
            wat, wie, waar, wanneer, hoe, hoeveel, waarom, welk, welke, is, zijn, was, staat, staan, ligt, liggen, brandt, \
            werkt, zie je, ziet u, hoor je, weet je, ben je, heb je, heeft, zit, zitten, in welke, op welke",
        states: "is, zijn, was",
        requests: "\
            alsjeblieft, alstublieft, aub, kan, kun, kunt, kunnen, kon, kunnen, zou, zouden, wil, wilt, willen, moet, \
            moeten, mag, mogelijk, tijd, te, zin, anders, als, iemand die, bereid, me, mij, even, gaat, ga",
        reasons: "waarom, wat dacht",
        negations: "niet, nooit, niemand",
    },
    // Russian and Ukrainian.
    Language {
        opens: "\
            где, кто, что, когда, как, сколько, какой, какая, какое, какие, какого, который, каким, чей, чья, чьё, каком, в каком, в какой, на каком, почему, \
            есть ли, есть, видишь, ты видишь, ты слышишь, ты знаешь, слышишь, знаешь, ты где, насколько, ты в, вы видите, \
            де, хто, що, коли, скільки, чому, який, яка",
        states: "\
            ли, открыта, открыто, открыт, открыты, закрыта, закрыто, закрыт, закрыты, включен, включён, включена, включено, \
            выключен, выключена, выключено, горит, пуст, пуста, пусто, работает, заряжен, заряжена, заряжена",
        requests: "\
            пожалуйста, может, можешь, можете, могут, могла, могли, мог, можно, можем, хочешь, хотите, возможно, надо, \
            нужно, пора, должен, должна, должны, бы, кто нибудь, если, иначе, против, мне, нам, будь, будьте, сможешь, \
            сможете, готов, насчет, насчёт, давай, чтобы, ли ты, ли вы, нельзя, можна, можеш, міг, будь ласка, тебе, будешь",
        reasons: "почему, что, кто",
        negations: "не, откроет, поможет, принесет, принесёт, уберет, уберёт",
    },
    // Polish.
    Language {
        opens: "\
            gdzie, kto, co, kiedy, jak, ile, jaki, jaka, jakie, który, która, które, dlaczego, czy jest, czy są, czy drzwi, \
            czy okno, czy światło, czy ktoś jest, czy widzisz, czy słyszysz, czy wiesz, czy masz, czy jesteś, widzisz, w \
            którym, w jakim, czemu",
        states: "jest, są",
        requests: "\
            proszę, może, możesz, możecie, możemy, mógłby, mogłaby, mógłbyś, mogłabyś, moglibyście, można, chcesz, chce, \
            zechciałbyś, trzeba, należy, powinien, powinniśmy, czas, jeśli, da się, mi, nam, gotowy, zechce, możliwe, żeby, \
            żebyś, powiesz na, myślisz o, pomoże, otworzy",
        reasons: "dlaczego, czemu, kto",
        negations: "nie, mi, nam",
    },
    // Czech and Slovak.
    Language {
        opens: "kde, kdo, co, kdy, jak, kolik, jaký, jaká, jaké, proč, je, jsou, vidíš, slyšíš, víš, jsi, ve které",
        states: "jsou",
        requests: "\
            prosím, může, můžeš, můžete, mohl, mohla, mohli, chceš, lze, bys, byste, by, aby, pokud, jinak, čas, mi, nám, \
            třeba, možné, připraven",
        reasons: "proč, kdo",
        negations: "ne, mi, nám, neotevřeš, nejdeš",
    },
    // Swedish, Danish, Norwegian.
    Language {
        opens: "\
            var är, var, vem, vad, när, hur, varför, vilken, vilket, vilka, är, finns, ser du, hör du, vet du, hvor, hvem, \
            hva, hvad, når, hvordan, hvorfor, hvilken, er, finnes",
        states: "är, er, finns",
        requests: "\
            snälla, kan, kunde, skulle, vill, får, måste, dags, kunne, ville, venligst, vennligst, vær, att, at, å, om, mig, \
            meg, oss, annars, ellers, möjligt, muligt, mulig, redo, lust",
        reasons: "varför, hvorfor, vem, hvem",
        negations: "inte, ikke, aldrig, mig, meg",
    },
    // Finnish.
    Language {
        opens: "missä, kuka, mikä, mitä, milloin, kuinka, miksi, onko, ovatko, näetkö, kuuletko, tiedätkö, oletko, montako",
        states: "onko",
        requests: "voisi, voisit, voisitko, voiko, voitko, haluatko, pitääkö, hyvä, jos, mahdollista, aika, viitsitkö, jaksatko",
        reasons: "miksi, kuka",
        negations: "et, ei, ette, voi",
    },
    // Turkish.
    Language {
        opens: "\
            nerede, neredesin, ne görüyorsun, ne var, ne kadar, ne zaman, ne oldu, kim var, kim, kaç, neden, nasıl, hangi, \
            burada, orada, mutfakta, salonda, odada, masada",
        // What ends in a particle is asked, too: see `ASKING_PARTICLES`.
        states: "nerede, kaç, dolu, var",
        requests: "\
            lütfen, zahmet, mümkün, misin, mısın, musun, müsün, misiniz, mısınız, musunuz, müsünüz, miyiz, mıyız, gerek, \
            lazım, değilse, bana, bize, eğer, haydi, hadi, olur mu, biri, birisi, zamanı",
        reasons: "neden, kim",
        negations: "",
    },
    // Greek.
    Language {
        opens: "πού, ποιος, ποια, ποιο, τι, πότε, πόσο, πόσα, πόσοι, γιατί, είναι, υπάρχει, βλέπεις, ακούς, είσαι",
        states: "είναι, υπάρχει",
        requests: "παρακαλώ, μπορείς, μπορεί, μπορείτε, μπορούμε, θα, να, μου, αν, ώρα, γίνεται, θέλεις",
        reasons: "γιατί, ποιος",
        negations: "δεν",
    },
    // Hebrew.
    Language {
        opens: "איפה, מי, מה, מתי, כמה, האם יש, למה, איזה",
        states: "האם",
        requests: "אפשר, תוכל, תוכלי, יכול, יכולה, בבקשה, אם, לי, לנו, תפתח, תביא, תלך, מישהו",
        reasons: "למה, מי",
        negations: "לא",
    },
    // Arabic.
    Language {
        opens: "\
            أين, ماذا, ما, كم, من في, من هو, من هي, من هناك, من عند, لماذا, متى, كيف, هل هناك, هل يوجد, هل الباب, هل النافذة, هل الضوء, هل البطارية, هل المصباح, \
            هل الغرفة, هل ترى, هل تسمع, هل تعرف, هل أنت, هل أنت في, في أي, أي",
        states: "",
        requests: "\
            فضلك, فضلكم, سمحت, سمحتم, يمكن, يمكنك, يمكنكم, ممكن, الممكن, تستطيع, يستطيع, بإمكانك, هلا, أن, أحد, أحدكم, رجاء, إذا, لو, \
            مستعد, وقت, تريد, رأيك, لي, لنا, يفتح, سيفتح",
        reasons: "لماذا, من",
        negations: "لا",
    },
    // Hindi.
    Language {
        opens: "क्या, कहाँ, कहां, कौन, कितना, कितनी, कितने, कब, क्यों, तुम क्या देख, तुम क्या देखते, आप क्या देख, तुम कहाँ, आप कहाँ",
        states: "कहाँ, कहां, कितना, कितनी, कितने, कौन, क्या",
        requests: "\
            कृपया, सकते, सकता, सकती, सकेगा, सकेंगे, दो, दें, दीजिए, दोगे, देंगे, दूँ, कीजिए, करो, करोगे, करेंगे, करेगा, चाहिए, अगर, कोई, खोलोगे, \
            लाओगे, जाओगे, मुझे, हमें, लिए, समय, खोलते, करते, जाते, लाते",
        reasons: "क्यों, कौन",
        negations: "नहीं, न, खोलेगा, लाएगा",
    },
    // Indonesian.
    Language {
        opens: "di mana, dimana, apa yang, siapa, berapa, kapan, mengapa, kenapa, apakah ada, apakah pintu, di ruang",
        states: "apakah ada",
        requests: "tolong, bisa, bisakah, dapatkah, dapat, maukah, mau, mohon, ayo, seseorang, bantu, jika, kalau, boleh",
        reasons: "mengapa, kenapa, siapa",
        negations: "tidak",
    },
    // Vietnamese.
    Language {
        opens: "ai đang, ai ở, có gì, có ai, bạn thấy gì, bạn ở đâu, bạn đang ở",
        states: "ở đâu, bao nhiêu, là gì",
        requests: "xin, vui lòng, làm ơn, có thể, giúp, hãy, được không, nhé, nếu, cho tôi",
        reasons: "tại sao, sao, ai",
        negations: "không",
    },
];

/// Turkish: a sentence that ends in one of these asks. In other languages "mi" is "me", so one of the letters must say that
/// it is Turkish.
pub(super) const ASKING_PARTICLES: Phrases = "mı, mi, mu, mü";
pub(super) const TURKISH_LETTERS: [char; 6] = ['ı', 'ğ', 'ş', 'ç', 'ö', 'ü'];
/// Parts of words that ask for a deed, where words bend: Turkish.
pub(super) const BENT_REQUESTS: Phrases = "abilir, ebilir, abilecek, ebilecek, alım mı, elim mi";

/// Korean: parts of words that ask, and those that ask for a deed.
pub(super) const KOREAN_ASKS: Phrases = "\
    무엇, 뭐가, 뭐를, 뭘, 뭐 , 어디, 누가, 누구, 얼마, 언제, 왜, 있어, 있나요, 있습니까, 있니, 열려, 닫혀, 켜져, 꺼져, 보여, 보이, 몇, 충전됐";
pub(super) const KOREAN_REQUESTS: Phrases = "\
    줘, 주세요, 주실, 주시, 줄래, 줄 수, 줄수, 할래, 할 수, 수 있, 볼래, 볼까, 해라, 어라, 아라, 가라, 하세요, 하십시오, 할까, 가자, 하자, 좀, 부탁, 면 , 와요, 안 열, 안 가, 도록";

/// Scripts without spaces: with one of these a sentence asks how something is.
pub(super) const ASKS_UNSPACED: Phrases = "\
    什么, 什麼, 哪, 谁, 誰, 几, 幾, 多少, 怎么样, 为什么, 為什麼, 是不是, 有没有, 有沒有, 是否, 吗, 嗎, 呢, 何, どこ, だれ, どれ, どの, いくつ, いつ, なぜ, どう, ていますか, でますか, \
    ますか, ですか, いるか, あるか, てる, อะไร, ที่ไหน, ใคร, กี่, ไหม, เท่าไร, เท่าไหร่, หรือเปล่า, เมื่อไร, ไหน";
/// And with one of these it asks for a deed.
pub(super) const DEEDS_UNSPACED: Phrases = "\
    请, 請, 帮, 幫, 可以, 可不可以, 能不能, 你能, 能帮, 谁能, 誰能, 能否, 把, 将, 給我, 给我, 麻烦, 麻煩, 好吗, 好嗎, 行吗, 行嗎, 好不好, 一下, 吧, 去, 拿, 带, 帶, 要不要, 怎么不, 怎麼不, 为什么不, 為什麼不, \
    何不, 不如, 是不是该, 该, 如果, 就, 然后, 愿意, 願意, 想不想, 有人能, 能来, ください, 下さい, くれ, もらえ, もらい, いただけ, 頂け, お願い, てもら, ませんか, ましょう, 行って, 持って, 来て, 取って, してよ, してほし, て欲し, \
    なさい, たら, 開けますか, 閉めますか, 行きますか, しますか, 運びますか, 持ってき, 開ける気, 開けない, しない, 頼む, 頼め, たのむ, ช่วย, กรุณา, โปรด, ได้ไหม, ได้มั้ย, หน่อย, ให้, ถ้า, ไป, เถอะ, ทำไมไม่";
/// Of them, harmless where one of these stands: "can you see".
pub(super) const SEEING_UNSPACED: Phrases =
    "能看到, 能看见, 能看見, 能听到, 能聽到, 看得到, 看得见, 过去, 過去, 出去了, 去过, 去哪, 去了";
