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
import { type App, bounded, type Menu, newUi, readKept } from './app';
import { composer } from './composer';
import { feed } from './feed';
import { goToQuestion, listen } from './keys';
import { setStrings, t } from './l10n';
import { header, historyPage } from './pages';
import { Prompt } from './prompt';
import { Scroller } from './scroll';
import { statusLine } from './status';
import { FeedWindow } from './window';
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
  readonly #window = new FeedWindow(() => this.redraw());
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
      case 'found':
        this.#prompt.completion.found(message.serial, message.found);
        break;
      case 'ruleChecked':
        this.ui.ruleProblems.set(`${message.id} ${message.rule}`, message.problem);
        this.ui.version += 1;
        this.redraw();
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
      window.addEventListener('pagehide', () => this.#keepNow());
      document.addEventListener('visibilitychange', () => this.#keepNow());
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
    this.#rescue(before);
    this.redraw();
  }

  /** A queued prompt that was taken up while it was being changed: what was written goes to the prompt. */
  #rescue(before: ViewState): void {
    const draft = this.ui.queued;
    if (!draft || this.state.shell.queued.some(({ id }) => id === draft.id)) return;
    this.ui.queued = null;
    const was = before.shell.queued.find(({ id }) => id === draft.id);
    if (draft.text === was?.text) return;
    this.#prompt.set([this.#prompt.text, draft.text].filter(Boolean).join('\n'));
    this.say(t('The agent has this prompt already; your change is in the prompt'));
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
    const log = this.#root.querySelector<HTMLElement>('[data-log]');
    if (log) this.#window.settle(log);
    this.#scroller.update(log, this.#hold);
    this.#hold = false;
    forgetTexts();
    const menu = this.#root.querySelector<HTMLElement>('[data-menu]');
    if (!menu || menu.contains(document.activeElement)) return;
    (menu.matches('[tabindex]') ? menu : menu.querySelector<HTMLElement>('[tabindex="0"]'))?.focus();
  }

  #frame(): TemplateResult {
    const { history } = this.state.shell;
    const written = this.#prompt.text.trim() !== '';
    return html`<div class="panel">
      <div class="frame">
        ${header(this)}${history.open ? historyPage(this) : feed(this, this.#window, this.#scroller.latest)}
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

  find(article: string | number): HTMLElement | null {
    const place =
      typeof article === 'string' ? `[data-id="${CSS.escape(article)}"]` : `[aria-posinset="${article}"]`;
    const drawn = () => this.#root.querySelector<HTMLElement>(`article${place}`);
    const found = drawn();
    if (found || !this.#window.want(article)) return found;
    render(this.#frame(), this.#root);
    const log = this.#root.querySelector<HTMLElement>('[data-log]');
    if (log) this.#window.settle(log);
    return drawn();
  }

  menu(menu: Menu | null, back = false): void {
    const before = this.ui.menu;
    this.ui.menu = menu;
    this.redraw();
    if (menu !== null || before === null || !back) return;
    const opener = this.#root.querySelector<HTMLElement>(`[data-act="${before}"]`);
    if (opener) opener.focus();
    else this.focusPrompt();
  }

  mention(): void {
    this.#prompt.mention();
  }

  latest(): void {
    this.#scroller.latest();
  }

  keep(): void {
    clearTimeout(this.#keeping);
    this.#keeping = setTimeout(() => this.#keepNow(), KEEP_MS);
  }

  /** What was typed just before the view goes away is kept as well. */
  #keepNow(): void {
    clearTimeout(this.#keeping);
    this.host.setState(this.ui.kept);
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
