/** The prompt's text: draft, history, pictures, sending. The field belongs to the person; drawing never touches it. */

import type { PastedImage } from '../messages';
import { type App, bounded, hindrance } from './app';
import type { PromptEvents } from './composer';
import { t } from './l10n';

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

const LARGEST_PICTURE = 5_000_000;

export class Prompt implements PromptEvents {
  #session: string | null | undefined;

  constructor(private readonly app: App) {}

  get #field(): HTMLTextAreaElement | null {
    return document.querySelector<HTMLTextAreaElement>('[data-prompt]');
  }

  get text(): string {
    return this.#field?.value ?? '';
  }

  /** Another conversation has another draft. */
  update(): void {
    const { sessionId } = this.app.state.shell;
    const field = this.#field;
    if (!field || sessionId === this.#session) return;
    // The first words can be written before there is a conversation; they go along into it.
    const early = this.#session === null ? field.value : '';
    this.#session = sessionId;
    const draft = this.app.ui.kept.drafts[sessionId ?? ''] ?? '';
    this.set(draft || early);
  }

  set(text: string): void {
    const field = this.#field;
    if (!field) return;
    field.value = text;
    field.setSelectionRange(text.length, text.length);
    this.#keep();
  }

  focus = (): void => {
    this.app.post({ type: 'focus', on: true });
  };

  blur = (): void => {
    this.app.post({ type: 'focus', on: false });
  };

  input = (): void => this.#keep();

  keydown = (event: KeyboardEvent): void => {
    const { sendWithCtrlEnter } = this.app.state.shell;
    const what = promptKey(event, sendWithCtrlEnter, this.text === '');
    if (what === undefined) return;
    event.preventDefault();
    if (what === 'send') this.send();
    else if (what === 'newline') this.#field?.setRangeText('\n', ...this.#selection(), 'end');
    else this.#last();
  };

  paste = (event: ClipboardEvent): void => {
    const files = [...(event.clipboardData?.files ?? [])].filter((file) => file.type.startsWith('image/'));
    if (!files.length) return;
    event.preventDefault();
    void Promise.all(files.map(readPicture)).then((images) => {
      this.app.ui.images = [...this.app.ui.images, ...images.filter((image) => image !== undefined)];
      if (images.includes(undefined)) this.app.say(t('A picture is too large: 5 MB at most'));
      this.app.redraw();
    });
  };

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
    this.app.post({ type: 'send', text, images: this.app.ui.images });
    this.app.ui.images = [];
    this.set('');
    this.app.latest();
  };

  /** A prompt that did not go out comes back, before whatever was written since. */
  refused(text: string, images: PastedImage[]): void {
    this.app.ui.images = [...images, ...this.app.ui.images];
    this.set([text, this.text].filter(Boolean).join('\n'));
  }

  #selection(): [number, number] {
    return [this.#field?.selectionStart ?? 0, this.#field?.selectionEnd ?? 0];
  }

  #last(): void {
    const last = this.app.state.items.findLast((item) => item.kind === 'user');
    if (last) this.set(last.text);
  }

  #keep(): void {
    const { kept } = this.app.ui;
    const key = this.app.state.shell.sessionId ?? '';
    const drafts = { ...kept.drafts };
    Reflect.deleteProperty(drafts, key);
    if (this.text) drafts[key] = this.text;
    kept.drafts = bounded(drafts);
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
