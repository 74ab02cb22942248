// Keys that work everywhere. Escape stops; in a text field the first Escape leaves the field. Pause stops from anywhere.

const isText = (element) =>
  element instanceof HTMLElement &&
  (element.isContentEditable || element.matches('textarea, select, input:not([type=checkbox], [type=radio], [type=range], [type=button])'));

export function bindKeys({ stop, goTo }) {
  document.addEventListener('keydown', (event) => {
    if (event.isComposing || event.repeat) return;
    if (event.key === 'Pause') {
      event.preventDefault();
      stop();
    } else if (event.key === 'Escape') {
      event.preventDefault();
      if (isText(document.activeElement)) document.activeElement.blur();
      else stop();
    } else if (!isText(document.activeElement) && !event.ctrlKey && !event.metaKey && !event.altKey && /^[1-6]$/.test(event.key)) {
      goTo(Number(event.key) - 1);
    }
  }, { capture: true });
}
