/** The prompt's text: draft, history, pictures, sending. The field belongs to the person; drawing never touches it. */

import type { PastedImage } from '../messages';
import { type App, having, hindrance, pictures, setPictures } from './app';
import { Completion } from './complete';
import type { PromptEvents } from './composer';
import { t } from './l10n';
import { editQueued } from './queue';

export type PromptKey = 'send' | 'newline' | 'last' | undefined;

export interface Pressed {
  key: string;
  shiftKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  isComposing: boolean;
}

/** What a key does in the prompt. While an input method composes, every key is the method's. */
export function promptKey(event: Pressed, withCtrl: boolean, empty: boolean): PromptKey {
  if (event.isComposing || event.altKey) return undefined;
  if (event.key === 'ArrowUp' && empty && !event.shiftKey) return 'last';
  if (event.key !== 'Enter' || event.shiftKey) return undefined;
  const ctrl = event.ctrlKey || event.metaKey;
  if (withCtrl) return ctrl ? 'send' : undefined;
  return ctrl ? 'newline' : 'send';
}

/** Files that are dragged from the explorer, one address a line. */
const ADDRESSES = 'text/uri-list';
const LARGEST_PICTURE = 5_000_000;

export class Prompt implements PromptEvents {
  #session: string | null | undefined;
  readonly #completion: Completion;

  constructor(private readonly app: App) {
    this.#completion = new Completion(
      app,
      () => this.#field,
      (text, caret) => this.set(text, caret),
    );
  }

  get #field(): HTMLTextAreaElement | null {
    return document.querySelector<HTMLTextAreaElement>('[data-prompt]');
  }

  get text(): string {
    return this.#field?.value ?? '';
  }

  get completion(): Completion {
    return this.#completion;
  }

  /** Another conversation has another draft. */
  update(): void {
    const { sessionId } = this.app.state.shell;
    const field = this.#field;
    if (!field || sessionId === this.#session) return;
    const { kept } = this.app.ui;
    // What was written before there was a conversation goes along into it.
    const early = this.#session === null ? field.value : '';
    this.#session = sessionId;
    this.#completion.close();
    const key = sessionId ?? '';
    if (key) {
      const waiting = kept.pictures[''];
      if (waiting) kept.pictures = having(kept.pictures, key, [...(kept.pictures[key] ?? []), ...waiting]);
      kept.pictures = having(kept.pictures, '', undefined);
      kept.drafts = having(kept.drafts, '', undefined);
    }
    this.set([kept.drafts[key], early].filter(Boolean).join('\n'));
  }

  set(text: string, caret = text.length): void {
    const field = this.#field;
    if (!field) return;
    // A field that holds the text already is left alone: an input method may be at work in it.
    if (field.value !== text) {
      field.value = text;
      field.setSelectionRange(caret, caret);
    }
    this.#keep();
  }

  focus = (): void => {
    this.app.post({ type: 'focus', on: true });
  };

  blur = (): void => {
    this.#completion.close();
    this.app.post({ type: 'focus', on: false });
  };

  input = (event: Event): void => {
    this.#keep();
    // What an input method is still composing is not yet text.
    if (!(event as InputEvent).isComposing) this.#completion.look();
  };

  composed = (): void => this.#completion.look();

  keydown = (event: KeyboardEvent): void => {
    if (this.#completion.key(event)) {
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    const { sendWithCtrlEnter } = this.app.state.shell;
    const what = promptKey(event, sendWithCtrlEnter, this.text === '');
    if (what === undefined) return;
    event.preventDefault();
    if (what === 'send') this.send();
    else if (what === 'newline') this.#field?.setRangeText('\n', ...this.#selection(), 'end');
    else this.#last();
  };

  paste = (event: ClipboardEvent): void => {
    if (this.#take(event.clipboardData)) event.preventDefault();
  };

  dragover = (event: DragEvent): void => {
    const kinds = event.dataTransfer?.types ?? [];
    if (kinds.includes('Files') || kinds.includes(ADDRESSES)) event.preventDefault();
  };

  drop = (event: DragEvent): void => {
    const addresses = (event.dataTransfer?.getData(ADDRESSES) ?? '').split(/\r?\n/);
    const uris = addresses.filter((line) => line.startsWith('file:'));
    if (!this.#take(event.dataTransfer) && !uris.length) return;
    event.preventDefault();
    if (uris.length) this.app.post({ type: 'addFiles', uris });
    this.#field?.focus();
  };

  /** Takes the pictures of a paste or drop; false when there is none. */
  #take(data: DataTransfer | null): boolean {
    const files = [...(data?.files ?? [])].filter((file) => file.type.startsWith('image/'));
    if (!files.length) return false;
    void Promise.all(files.map(readPicture)).then((read) => {
      const known = read.filter((image) => image !== undefined);
      setPictures(this.app, [...pictures(this.app), ...known]);
      if (known.length < read.length) this.app.say(t('A picture is too large: 5 MB at most'));
    });
    return true;
  }

  send = (): void => {
    const text = this.text.trim();
    if (!text) {
      this.#field?.focus();
      return;
    }
    const why = hindrance(this.app.state.shell);
    if (why) {
      this.app.say(why);
      return;
    }
    this.app.post({ type: 'send', text, images: pictures(this.app) });
    setPictures(this.app, []);
    this.#completion.close();
    this.set('');
    this.app.latest();
  };

  /** A prompt that did not go out comes back, before whatever was written since. */
  refused(text: string, images: PastedImage[]): void {
    setPictures(this.app, [...images, ...pictures(this.app)]);
    this.set([text, this.text].filter(Boolean).join('\n'));
  }

  /** Writes an `@` where the caret is, with room before it, and opens its menu. */
  mention(): void {
    const field = this.#field;
    if (!field) return;
    field.focus();
    const [from, to] = this.#selection();
    const room = from === 0 || /\s/.test(field.value.charAt(from - 1)) ? '' : ' ';
    field.setRangeText(`${room}@`, from, to, 'end');
    this.#keep();
    this.#completion.look();
  }

  #selection(): [number, number] {
    return [this.#field?.selectionStart ?? 0, this.#field?.selectionEnd ?? 0];
  }

  /** The newest prompt that waits is changed; with none, the last one is written again. */
  #last(): void {
    const queued = this.app.state.shell.queued.at(-1);
    if (queued) {
      editQueued(this.app, queued);
      return;
    }
    const last = this.app.state.items.findLast((item) => item.kind === 'user');
    if (last) this.set(last.text);
  }

  /** Under the conversation that the field belongs to, which the state may have left already. */
  #keep(): void {
    const { kept } = this.app.ui;
    kept.drafts = having(kept.drafts, this.#session ?? '', this.text || undefined);
    this.app.keep();
    this.app.redraw();
  }
}

function readPicture(file: File): Promise<PastedImage | undefined> {
  if (file.size > LARGEST_PICTURE) return Promise.resolve(undefined);
  return new Promise((done) => {
    const reader = new FileReader();
    reader.onload = () => {
      const data = (reader.result as string).replace(/^[^,]*,/, '');
      done({ name: file.name || 'image.png', mimeType: file.type, data });
    };
    reader.onerror = () => done(undefined);
    reader.readAsDataURL(file);
  });
}
