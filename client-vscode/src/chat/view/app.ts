/** What every part of the panel is given: the state, the ways to change it, and what only the view knows. */

import type { Shell, ViewState } from '../../state';
import type { FromView, PastedImage } from '../messages';
import { t } from './l10n';

/** Kept over reloads by the editor; everything here is the person's own doing. */
export interface Kept {
  /** Drafts by conversation. */
  drafts: Record<string, string>;
  /** What was opened or closed by hand, by id. */
  open: Record<string, boolean>;
  /** Scroll positions by conversation; none means at the end. */
  scroll: Record<string, number>;
}

export interface Ui {
  kept: Kept;
  /** Counts what the view alone changed, so that cached parts are made anew. */
  version: number;
  /** The menu that is open, if any: one at a time. */
  menu: 'mode' | null;
  /** Pictures pasted into the prompt that is being written. */
  images: PastedImage[];
  /** When each open question was first shown, in milliseconds of `performance.now()`. */
  born: Map<string, number>;
  /** The command of a question as the person is changing it, by question. */
  commands: Map<string, string>;
  /** Files that the person settled here, with the word for it, by path. */
  settled: Map<string, 'kept' | 'undone'>;
  /** Whether the open question is out of sight. */
  questionAway: boolean;
  /** Whether the end of the conversation is in view. */
  atEnd: boolean;
  search: string;
}

export interface App {
  state: ViewState;
  readonly ui: Ui;
  post(message: FromView): void;
  /** Draws soon, once for all that happened. */
  redraw(): void;
  /** Opens or closes something, for good. */
  toggle(id: string, open: boolean): void;
  /** Whether the person opened it, else `otherwise`. */
  isOpen(id: string, otherwise: boolean): boolean;
  /** Read out when there is time. */
  say(text: string): void;
  copy(text: string): void;
  focusPrompt(): void;
  /** Puts text into the prompt, ready to be sent or changed. */
  fill(text: string): void;
  /** Goes to the end and follows it again. */
  latest(): void;
  keep(): void;
}

/** Why nothing can be sent now; empty when it can. */
export function hindrance({ server, folder, connection }: Shell): string {
  if (server.state === 'starting') return t('The server is starting');
  if (server.state === 'stopped') return t('The server is not running');
  if (folder === null) return t('Open a folder first');
  if (connection?.ready === true) return '';
  return connection?.small?.ready === true
    ? t('The small local model cannot work as an agent')
    : t('There is no model yet');
}

export function newUi(kept: Kept): Ui {
  return {
    kept,
    version: 0,
    menu: null,
    images: [],
    born: new Map(),
    commands: new Map(),
    settled: new Map(),
    questionAway: false,
    atEnd: true,
    search: '',
  };
}

const RECENT = 400;

/** Only the newest entries: a view that is used for months must not grow without end. */
export function bounded<T>(record: Record<string, T>): Record<string, T> {
  const entries = Object.entries(record);
  return entries.length <= RECENT ? record : Object.fromEntries(entries.slice(-RECENT));
}

/** What the editor kept, as far as it has the shape that is expected. */
export function readKept(value: unknown): Kept {
  const saved = (typeof value === 'object' && value !== null ? value : {}) as Partial<Kept>;
  return { drafts: saved.drafts ?? {}, open: saved.open ?? {}, scroll: saved.scroll ?? {} };
}
