/** What every part of the panel is given: the state, the ways to change it, and what only the view knows. */

import type { Shell, ViewState } from '../../state';
import type { FromView, PastedImage } from '../messages';
import { t } from './l10n';

/** Kept over reloads by the editor; everything here is the person's own doing. */
export interface Kept {
  /** Drafts by conversation. */
  drafts: Record<string, string>;
  /** Pictures of drafts by conversation. */
  pictures: Record<string, PastedImage[]>;
  /** What was opened or closed by hand, by id. */
  open: Record<string, boolean>;
  /** Scroll positions by conversation; none means at the end. */
  scroll: Record<string, Spot>;
}

/** A place in a transcript: an article, and how far below the top of the view it begins, in pixels. */
export interface Spot {
  id: string;
  offset: number;
}

/** A rule on its way to being kept: for which answer, and its text now. */
export interface RuleDraft {
  optionId: string;
  rules: string[];
}

/** The popovers; one at a time. */
export type Menu = 'mode' | 'model' | 'context' | 'help';

export interface Ui {
  kept: Kept;
  /** Counts what the view alone changed, so that cached parts are made anew. */
  version: number;
  /** The menu that is open, if any: one at a time. */
  menu: Menu | null;
  /** When each open question was first shown, in milliseconds of `performance.now()`. */
  born: Map<string, number>;
  /** The command of a question as the person is changing it, by question. */
  commands: Map<string, string>;
  /** Rules that are being changed before they are kept, by question. */
  rules: Map<string, RuleDraft>;
  /** Why a rule may not be kept, by question and rule; empty when it may. */
  ruleProblems: Map<string, string>;
  /** The queued prompt that is being changed. */
  queued: { id: string; text: string } | null;
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
  /** Opens a popover, or closes the one that is open; `back` gives the focus to what opened it. */
  menu(menu: Menu | null, back?: boolean): void;
  /** Begins to write a mention in the prompt. */
  mention(): void;
  /** The article of that id or place, drawn if it was not. */
  find(article: string | number): HTMLElement | null;
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
    born: new Map(),
    commands: new Map(),
    rules: new Map(),
    ruleProblems: new Map(),
    queued: null,
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
  return {
    drafts: saved.drafts ?? {},
    pictures: saved.pictures ?? {},
    open: saved.open ?? {},
    scroll: saved.scroll ?? {},
  };
}

/** Pictures of the draft of the conversation that is shown. */
export function pictures(app: App): PastedImage[] {
  return app.ui.kept.pictures[app.state.shell.sessionId ?? ''] ?? [];
}

export function setPictures(app: App, all: PastedImage[]): void {
  app.ui.kept.pictures = having(
    app.ui.kept.pictures,
    app.state.shell.sessionId ?? '',
    all.length ? all : undefined,
  );
  app.keep();
  app.redraw();
}

/** A record with one entry set last, or taken out. */
export function having<T>(record: Record<string, T>, key: string, value: T | undefined): Record<string, T> {
  const next = { ...record };
  Reflect.deleteProperty(next, key);
  if (value !== undefined) next[key] = value;
  return bounded(next);
}
