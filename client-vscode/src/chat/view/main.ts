/** The panel: takes the state from the extension, draws it, and says what the person does. */

import { html, render, type TemplateResult } from 'lit-html';

import './style/base.css';
import './style/feed.css';
import './style/cards.css';
import './style/controls.css';
import './style/ask.css';
import './style/dock.css';
import './style/menus.css';
import './style/pages.css';
import { apply } from '../../patch';
import type { ViewState } from '../../state';
import type { FromView, ToView } from '../messages';
import { announcements } from './announce';
import { forgetTexts } from './answer';
import { type App, bounded, newUi, readKept } from './app';
import { composer } from './composer';
import { feed } from './feed';
import { goToQuestion, listen } from './keys';
import { setStrings, t } from './l10n';
import { header, historyPage } from './pages';
import { Prompt } from './prompt';
import { Scroller } from './scroll';
import { statusLine } from './status';
import { strips } from './strips';
import { tick } from './ticker';

interface Host {
  postMessage(message: FromView): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): Host;

const COPIED_MS = 1200;
const KEEP_MS = 250;

class View implements App {
  state!: ViewState;
  #begun = false;
  readonly ui;
  readonly #prompt = new Prompt(this);
  readonly #scroller = new Scroller(this);
  readonly #root: HTMLElement;
  #drawing = 0;
  #keeping: ReturnType<typeof setTimeout> | undefined;
  #hold = false;

  constructor(
    private readonly host: Host,
    root: HTMLElement,
  ) {
    this.#root = root;
    this.ui = newUi(readKept(host.getState()));
  }

  post(message: FromView): void {
    this.host.postMessage(message);
  }

  receive(message: ToView): void {
    if (!this.#begun && message.type !== 'init') return;
    switch (message.type) {
      case 'init':
        this.#init(message);
        break;
      case 'patch':
        this.#patch(message);
        break;
      case 'focusPrompt':
        this.focusPrompt();
        break;
      case 'goToQuestion':
        goToQuestion();
        break;
      case 'insert':
        this.fill(this.#prompt.text ? `${this.#prompt.text}\n${message.text}` : message.text);
        if (message.send) this.#prompt.send();
        break;
      case 'refused':
        this.#prompt.refused(message.text, message.images);
    }
  }

  #init({ state, strings, locale }: Extract<ToView, { type: 'init' }>): void {
    const first = !this.#begun;
    this.#begun = true;
    setStrings(strings);
    document.documentElement.lang = locale;
    this.state = state;
    this.ui.version += 1;
    if (first) {
      listen(this);
      window.addEventListener('focus', () => {
        if (document.activeElement === document.body) this.focusPrompt();
      });
    }
    this.#draw();
    // Only where the focus is in the panel already: coming up again must not take it from the editor.
    if (first && document.hasFocus()) this.focusPrompt();
  }

  #patch({ patch }: Extract<ToView, { type: 'patch' }>): void {
    const before = this.state;
    this.state = apply(before, patch);
    const said = announcements(before, this.state);
    said.polite.forEach((text) => this.say(text));
    if (said.alert) this.#speak('shout', said.alert);
    this.#unsettle(before);
    if (before.shell.sessionId !== this.state.shell.sessionId) {
      forgetTexts(new Set(this.state.items.map((item) => item.id)));
    }
    this.redraw();
  }

  /** A file that waits again is no longer what the person last made of it. */
  #unsettle(before: ViewState): void {
    const known = new Set(before.shell.changes.map((file) => file.path));
    for (const { path } of this.state.shell.changes) if (!known.has(path)) this.ui.settled.delete(path);
  }

  // --- drawing ---

  redraw(): void {
    this.#drawing ||= requestAnimationFrame(() => {
      this.#drawing = 0;
      this.#draw();
    });
  }

  #draw(): void {
    render(this.#frame(), this.#root);
    this.#prompt.update();
    tick(this.#root, Date.now());
    this.#scroller.update(this.#root.querySelector<HTMLElement>('[data-log]'), this.#hold);
    this.#hold = false;
    const menu = this.#root.querySelector('.pop');
    if (menu && !menu.contains(document.activeElement))
      menu.querySelector<HTMLElement>('[tabindex="0"]')?.focus();
  }

  #frame(): TemplateResult {
    const { history } = this.state.shell;
    const written = this.#prompt.text.trim() !== '';
    return html`<div class="panel">
      <div class="frame">
        ${header(this)}${history.open ? historyPage(this) : feed(this, this.#scroller.latest)}
        <footer class="dock" aria-label=${t('Prompt')} ?hidden=${history.open}>
          ${strips(this, goToQuestion)}${composer(this, this.#prompt, this.#prompt.send, written)}${statusLine(this)}
        </footer>
      </div>
    </div>`;
  }

  // --- what the parts ask for ---

  toggle(id: string, open: boolean): void {
    this.ui.kept.open = bounded({ ...this.ui.kept.open, [id]: open });
    this.ui.version += 1;
    // What was clicked stays under the pointer, also at the end of the conversation.
    this.#hold = true;
    this.keep();
    this.redraw();
  }

  isOpen(id: string, otherwise: boolean): boolean {
    return this.ui.kept.open[id] ?? otherwise;
  }

  latest(): void {
    this.#scroller.latest();
  }

  keep(): void {
    clearTimeout(this.#keeping);
    this.#keeping = setTimeout(() => this.host.setState(this.ui.kept), KEEP_MS);
  }

  say(text: string): void {
    this.#speak('say', text);
  }

  #speak(id: 'say' | 'shout', text: string): void {
    const place = document.getElementById(id);
    if (!place) return;
    const line = document.createElement('p');
    line.textContent = text;
    place.append(line);
    while (place.childElementCount > 4) place.firstElementChild?.remove();
  }

  copy(text: string): void {
    this.post({ type: 'copy', text });
    this.say(t('Copied'));
    const button = document.activeElement;
    button?.classList.add('copied');
    setTimeout(() => button?.classList.remove('copied'), COPIED_MS);
  }

  focusPrompt(): void {
    this.#root.querySelector<HTMLElement>('[data-prompt]')?.focus();
  }

  fill(text: string): void {
    this.#prompt.set(text);
    this.focusPrompt();
  }
}

/** Places for what is read out; they are there from the start, or nothing would be read. */
function places(): void {
  for (const [id, role] of [
    ['say', 'status'],
    ['shout', 'alert'],
  ] as const) {
    const place = document.createElement('div');
    place.id = id;
    place.className = 'sr';
    place.setAttribute('role', role);
    document.body.append(place);
  }
}

function start(): void {
  const root = document.getElementById('root');
  if (!root) return;
  places();
  const view = new View(acquireVsCodeApi(), root);
  window.addEventListener('message', (event: MessageEvent<ToView>) => view.receive(event.data));
  setInterval(() => tick(root, Date.now()), 1000);
  view.post({ type: 'ready' });
}

start();
