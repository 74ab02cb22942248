// Finds the first visible element that a selector names and whose text contains some words, and does one thing with it:
// reads its text, clicks it once it is enabled, or waits until there is none. Looks again whenever the page changes.
const [selector, text, act, done] = arguments;
const isVisible = (element) => element.checkVisibility({ visibilityProperty: true });
const wordsOf = (element) => element.innerText ?? element.textContent;
// What an element says as it is shown takes a layout of the page: of thousands of lines, those are left out that can't say it.
const firstWord = text.trim().split(/\s+/)[0].toLowerCase();
const maySay = (element) => element.textContent.toLowerCase().includes(firstWord) || element.value === text;
const find = () =>
  [...document.querySelectorAll(selector)].find(
    (element) => maySay(element) && isVisible(element) && (wordsOf(element).includes(text) || element.value === text),
  );
const acts = {
  read: (element) => element && { value: wordsOf(element) },
  click: (element) => {
    if (!element || element.disabled) return undefined;
    element.scrollIntoView({ block: "center" });
    element.click();
    return { value: true };
  },
  gone: (element) => (element ? undefined : { value: true }),
};
const attempt = () => {
  const result = acts[act](find());
  if (result) {
    changes.disconnect();
    done(result.value);
  }
  return Boolean(result);
};
const changes = new MutationObserver(attempt);
changes.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
attempt();
