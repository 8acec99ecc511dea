/** The lists of the prompt: `@` finds files, `/` names commands. The field keeps the focus all the while. */

import { html, nothing, type TemplateResult } from 'lit-html';

import type { Found } from '../messages';
import type { App } from './app';
import { commands, type Command } from './commands';
import { icon, type IconName } from './icons';
import { count, t } from './l10n';
import type { Piece } from './parts';

export const LIST = 'completions';

export interface Token {
  kind: '@' | '/';
  /** Where its sign stands. */
  start: number;
  query: string;
}

/** What is being named at the caret: a mention anywhere, a command only as the whole prompt. */
export function tokenAt(text: string, caret: number): Token | undefined {
  const before = text.slice(0, caret);
  const command = /^\/([\w-]*)$/.exec(before);
  if (command && text.length === caret) return { kind: '/', start: 0, query: command[1] ?? '' };
  // An address of mail is no mention; after a word of Chinese there need not be a blank.
  const mention = /(?:^|[^\w.@/+-])@([^\s@]*)$/.exec(before);
  if (!mention) return undefined;
  const query = mention[1] ?? '';
  return { kind: '@', start: caret - query.length - 1, query };
}

interface Option {
  group: string;
  icon: IconName | undefined;
  name: string;
  hits: number[];
  detail: string;
  choose: () => void;
}

const ICONS: Record<Found['kind'], IconName> = { selection: 'sel', file: 'file', folder: 'folder' };

type Pressed = Pick<KeyboardEvent, 'key' | 'isComposing' | 'altKey' | 'ctrlKey' | 'metaKey' | 'shiftKey'>;

export class Completion {
  #token: Token | undefined;
  #options: Option[] = [];
  #at = 0;
  #serial = 0;
  /** Where a list was closed by Escape; it stays closed while that token is written on. */
  #dismissed: number | undefined;

  constructor(
    private readonly app: App,
    private readonly field: () => HTMLTextAreaElement | null,
    private readonly write: (text: string, caret: number) => void,
  ) {}

  get open(): boolean {
    return this.#options.length > 0;
  }

  /** Id of the chosen option, for `aria-activedescendant`. */
  get active(): string | undefined {
    return this.open ? `${LIST}-${this.#at}` : undefined;
  }

  /** Reads what stands at the caret. */
  look(): void {
    const field = this.field();
    const token = field ? tokenAt(field.value, field.selectionStart) : undefined;
    if (token?.start !== this.#dismissed) this.#dismissed = undefined;
    if (!token || this.#dismissed !== undefined) {
      this.close();
      return;
    }
    this.#token = token;
    this.#serial += 1;
    if (token.kind === '/') this.#offer(commands(this.app, token.query).map((one) => this.#command(one)));
    else this.app.post({ type: 'find', serial: this.#serial, query: token.query });
  }

  /** The extension's answer to what was looked for last. */
  found(serial: number, found: Found[]): void {
    if (serial !== this.#serial || this.#token?.kind !== '@') return;
    this.#offer(found.map((one) => this.#file(one)));
  }

  close(): void {
    this.#serial += 1;
    this.#token = undefined;
    if (!this.#options.length) return;
    this.#options = [];
    this.app.redraw();
  }

  /** True when the key was for the list. What an input method composes with is its own. */
  key(event: Pressed): boolean {
    if (!this.open || event.isComposing || event.key === 'Process') return false;
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return false;
    const total = this.#options.length;
    const keys: Record<string, () => void> = {
      ArrowDown: () => this.#move((this.#at + 1) % total),
      ArrowUp: () => this.#move((this.#at + total - 1) % total),
      Enter: () => this.#options[this.#at]?.choose(),
      Tab: () => this.#options[this.#at]?.choose(),
      Escape: () => this.#dismiss(),
    };
    const run = keys[event.key];
    run?.();
    return run !== undefined;
  }

  /** Closes the list alone; it opens again with another mention. */
  #dismiss(): void {
    this.#dismissed = this.#token?.start;
    this.close();
  }

  #move(to: number): void {
    this.#at = to;
    this.app.redraw();
    requestAnimationFrame(() => {
      document.getElementById(`${LIST}-${to}`)?.scrollIntoView({ block: 'nearest' });
    });
  }

  #offer(options: Option[]): void {
    if (options.length !== this.#options.length) {
      this.app.say(options.length ? count(options.length, '{0} match', '{0} matches') : t('No match'));
    }
    this.#options = options;
    this.#at = 0;
    this.app.redraw();
  }

  /** Puts text in the place of what was typed. */
  #replace(text: string): void {
    const field = this.field();
    const token = this.#token;
    if (!field || !token) return;
    const end = token.start + 1 + token.query.length;
    const rest = field.value.slice(end);
    const written = text && !/^\s/.test(rest) ? `${text} ` : text;
    this.close();
    this.write(field.value.slice(0, token.start) + written + rest, token.start + written.length);
  }

  #file(found: Found): Option {
    const group = { selection: t('Selection'), file: t('Files'), folder: t('Folders') }[found.kind];
    return {
      group: found.open ? t('Open in the editor') : group,
      icon: ICONS[found.kind],
      name: found.name,
      hits: found.hits,
      detail: found.detail,
      choose: () => {
        this.#replace(`@${found.insert}`);
        this.app.post({ type: 'mention', kind: found.kind, path: found.path });
      },
    };
  }

  #command(command: Command): Option {
    return {
      group: t('Commands'),
      icon: undefined,
      name: `/${command.name}`,
      hits: [],
      detail: command.words,
      choose: () => {
        this.#replace('');
        command.run(this.app);
      },
    };
  }

  view(): Piece {
    if (!this.open) return nothing;
    const names = [...new Set(this.#options.map((option) => option.group))];
    return html`<div
      class="pop"
      id=${LIST}
      role="listbox"
      aria-label=${this.#token?.kind === '/' ? t('Commands') : t('Mention')}
      data-completions
    >
      ${names.map((name) => this.#group(name))}
    </div>`;
  }

  #group(name: string): TemplateResult {
    return html`<div role="group" aria-label=${name}>
      <div class="grp" aria-hidden="true">${name}</div>
      ${this.#options.map((option, index) => (option.group === name ? this.#row(option, index) : nothing))}
    </div>`;
  }

  #row(option: Option, index: number): TemplateResult {
    const chosen = index === this.#at;
    // The field must not lose the focus to the list.
    const hold = (event: Event) => event.preventDefault();
    const detail = html`<span class=${option.icon ? 'meta ell' : 'muted small ell'}>${option.detail}</span>`;
    return html`<div
      class=${option.icon ? 'mi' : 'mi cmdrow'}
      role="option"
      id="${LIST}-${index}"
      aria-selected=${chosen}
      @mousedown=${hold}
      @click=${option.choose}
    >
      ${option.icon ? icon(option.icon) : nothing}<span class="ell"><bdi>${marked(option)}</bdi></span
      >${detail}
    </div>`;
  }
}

/** The name with what was searched for in it. */
function marked({ name, hits }: Option): (TemplateResult | string)[] {
  const places = new Set(hits);
  return Array.from(name).map((letter, index) =>
    places.has(index) ? html`<span class="hl">${letter}</span>` : letter,
  );
}
