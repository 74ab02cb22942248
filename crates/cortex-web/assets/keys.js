// Keys that work everywhere. Escape stops; in a text field the first Escape leaves the field. Pause stops from anywhere. Where
// nothing is typed, a number goes to a view, and I saves an incident.

const isText = (element) =>
  element instanceof HTMLElement &&
  (element.isContentEditable || element.matches('textarea, select, input:not([type=checkbox], [type=radio], [type=range], [type=button])'));

export function bindKeys({ stop, goTo, saveIncident }) {
  document.addEventListener('keydown', (event) => {
    if (event.isComposing || event.repeat) return;
    if (event.key === 'Pause') {
      event.preventDefault();
      stop();
    } else if (event.key === 'Escape') {
      event.preventDefault();
      if (isText(document.activeElement)) document.activeElement.blur();
      else stop();
    } else if (!isText(document.activeElement) && !event.ctrlKey && !event.metaKey && !event.altKey) {
      if (/^[1-8]$/.test(event.key)) goTo(Number(event.key) - 1);
      else if (event.key === 'i') saveIncident();
    }
  }, { capture: true });
}
