/** Keys of the whole panel. A digit or Enter answers a question only inside its card and outside its fields. */

import type { App } from './app';
import { nextMode } from './modeMenu';

export type PanelKey =
  | { answer: number }
  | 'question'
  | 'mode'
  | 'escape'
  | 'older'
  | 'newer'
  | 'first'
  | 'last'
  | 'end'
  | undefined;

export interface Place {
  /** Inside a question card. */
  inCard: boolean;
  /** Inside a text field. */
  inField: boolean;
  /** Inside the transcript. */
  inLog: boolean;
}

type Pressed = Pick<
  KeyboardEvent,
  'key' | 'code' | 'altKey' | 'ctrlKey' | 'metaKey' | 'shiftKey' | 'isComposing'
>;

/** What a key does where it was pressed. */
export function panelKey(event: Pressed, place: Place): PanelKey {
  if (event.isComposing || event.metaKey) return undefined;
  if (event.ctrlKey) return event.key === 'End' && !place.inField ? 'end' : undefined;
  if (event.altKey) return WITH_ALT[event.code];
  if (event.key === 'Escape') return 'escape';
  if (place.inField) return undefined;
  if (place.inCard && /^[1-9]$/.test(event.key)) return { answer: Number(event.key) };
  return place.inLog ? PAGES[event.key] : undefined;
}

const WITH_ALT: Record<string, PanelKey> = { KeyA: 'question', KeyM: 'mode' };
const PAGES: Record<string, PanelKey> = { PageUp: 'older', PageDown: 'newer', Home: 'first', End: 'last' };

export function goToQuestion(): void {
  const card = document.querySelector<HTMLElement>('[data-ask]');
  if (!card) return;
  const room = card.closest('[data-log]')?.clientHeight ?? 0;
  card.scrollIntoView({ block: card.offsetHeight > room ? 'start' : 'nearest' });
  (card.querySelector<HTMLElement>('.opt') ?? card).focus({ preventScroll: true });
}

/** To another message, also one that is too far away to be drawn. */
function article(app: App, target: Element, to: 'older' | 'newer' | 'first' | 'last'): boolean {
  const current = target.closest<HTMLElement>('article');
  if (!current) return false;
  const [at, all] = ['posinset', 'setsize'].map((name) => Number(current.getAttribute(`aria-${name}`)));
  if (!at || !all) return false;
  app.find({ older: at - 1, newer: at + 1, first: 1, last: all }[to])?.focus();
  return true;
}

function escape(app: App): void {
  if (app.ui.menu !== null) app.menu(null, true);
  else if (app.state.shell.history.open) app.post({ type: 'history', open: false });
  else if (app.state.shell.running) app.post({ type: 'stop' });
}

function step(app: App): void {
  const { modes } = app.state.shell;
  const next = modes ? nextMode(modes) : undefined;
  if (next !== undefined) app.post({ type: 'mode', id: next });
}

/** Does what the key asks; true when it asked something. */
function act(app: App, key: NonNullable<PanelKey>, target: Element): boolean {
  if (typeof key === 'object') {
    const rows = target.closest('[data-ask]')?.querySelectorAll<HTMLElement>('.opt');
    rows?.[key.answer - 1]?.click();
  } else if (key === 'question') goToQuestion();
  else if (key === 'mode') step(app);
  else if (key === 'escape') escape(app);
  else if (key === 'end') app.latest();
  else return article(app, target, key);
  return true;
}

function onKey(app: App, event: KeyboardEvent): void {
  const { target } = event;
  if (!(target instanceof Element)) return;
  const key = panelKey(event, {
    inCard: target.closest('[data-ask]') !== null,
    inField: target.matches('input, textarea'),
    inLog: target.closest('.feed') !== null,
  });
  if (key !== undefined && act(app, key, target)) event.preventDefault();
}

/** Links have no address of their own: a click or Enter goes to the extension. */
function onLink(app: App, event: Event): void {
  if (event instanceof KeyboardEvent && event.key !== 'Enter') return;
  const link = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-href]') : null;
  const href = link?.dataset['href'];
  if (!href) return;
  event.preventDefault();
  app.post({ type: 'openLink', href });
}

export function listen(app: App): void {
  document.addEventListener('keydown', (event) => onKey(app, event));
  document.addEventListener('keydown', (event) => onLink(app, event));
  document.addEventListener('click', (event) => onLink(app, event));
  document.addEventListener('click', (event) => {
    const inside = event.target instanceof Element && event.target.closest('.pop, [aria-haspopup]');
    if (!inside && app.ui.menu !== null) app.menu(null);
  });
}
