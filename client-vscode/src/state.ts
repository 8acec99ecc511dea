/** What the panel shows, as one immutable value; made by `fold.ts`, sent to the view by `patch.ts`. */

import type {
  BackgroundTask,
  Connection,
  FileDiff,
  FileInfo,
  Models,
  Modes,
  PermissionDetail,
  PermissionOption,
  QueuedPrompt,
  SessionInfo,
} from './protocol';

/** Context that goes or went along with a prompt. */
export interface Chip {
  id: string;
  kind: 'selection' | 'file' | 'folder' | 'image';
  name: string;
  /** Absolute path; a pasted picture has none. */
  path?: string;
  /** First and last line of a selection, 1-based. */
  range?: [number, number];
  /** A selection that is switched off stays out. */
  on?: boolean;
}

export interface UserItem {
  kind: 'user';
  id: string;
  text: string;
  chips: Chip[];
  /** Shown at once when it was sent; the server's echo of it adds nothing. */
  local?: boolean;
}

export interface TextItem {
  kind: 'text';
  id: string;
  text: string;
  message: string;
  streaming: boolean;
}

export interface ThinkingItem {
  kind: 'thinking';
  id: string;
  text: string;
  message: string;
  startedAt: number;
  /** Duration; absent while it runs or when a stored conversation does not say. */
  ms?: number;
  running: boolean;
}

export type Family = 'read' | 'search' | 'edit' | 'run' | 'other';
export type ToolStatus = 'running' | 'done' | 'failed' | 'denied' | 'stopped';

export interface ToolItem {
  kind: 'tool';
  id: string;
  tool: string;
  family: Family;
  status: ToolStatus;
  /** The verb's target: a path, a command, a pattern. */
  target: string;
  path?: string;
  /** The line from which it reads. */
  line?: number;
  /** The last lines of output, and how many were cut before them. */
  output: string;
  cut: number;
  diffs: FileDiff[];
  startedAt: number;
  ms?: number;
  exitCode?: number;
  /** A short fact for the right edge, as `48 lines`. */
  note?: string;
}

export interface AskItem {
  kind: 'ask';
  id: string;
  call: string;
  detail: PermissionDetail;
  options: PermissionOption[];
  /** One line once it was answered or closed; the card is open while this is absent. */
  answer?: string;
  denied?: boolean;
}

export interface NoticeItem {
  kind: 'notice';
  id: string;
  severity: 'info' | 'warning' | 'error';
  text: string;
  detail?: string;
  actions: Action[];
}

export interface RetryItem {
  kind: 'retry';
  id: string;
  attempt: number;
  delayMs: number;
  until: number;
  cause: string;
}

export interface FootItem {
  kind: 'foot';
  id: string;
  running: boolean;
  startedAt: number;
  ms?: number;
  outcome?: 'done' | 'stopped' | 'failed' | 'limit' | 'refused';
}

export type Item =
  UserItem | TextItem | ThinkingItem | ToolItem | AskItem | NoticeItem | RetryItem | FootItem;

/** A button that runs one of the commands that a view may run. */
export interface Action {
  label: string;
  command: ViewCommand;
}

export const VIEW_COMMANDS = [
  'sidelight.setKey',
  'sidelight.lookAgain',
  'sidelight.installSmallModel',
  'sidelight.restart',
  'sidelight.setUpPython',
  'sidelight.showLog',
  'sidelight.chooseInterpreter',
  'sidelight.chooseModel',
  'sidelight.chooseGateway',
  'sidelight.newConversation',
  'sidelight.reviewChanges',
  'workbench.action.files.openFolder',
] as const;
export type ViewCommand = (typeof VIEW_COMMANDS)[number];

export interface Usage {
  used: number;
  size: number;
  cost?: number;
  currency?: string;
  /** Something was asked of a model without a known price: no number would be the cost. */
  priceUnknown?: boolean;
  /** Tokens of the last request by where they came from, when the server tells. */
  parts?: UsageParts;
  /** The model that answered. */
  model?: string;
}

export interface UsageParts {
  /** Read anew, at full price. */
  fresh: number;
  cacheRead: number;
  cacheWrite: number;
  output: number;
}

/** What may be chosen in a conversation. */
export interface Choices {
  modes?: Modes;
  models?: Models;
}

/** One conversation as folded from the server's messages. */
export interface Conversation {
  sessionId: string;
  title?: string;
  items: Item[];
  running: boolean;
  /** The turn's next step waits. */
  paused?: boolean;
  queued: QueuedPrompt[];
  /** Commands that run on beside the turns, oldest first. */
  tasks: BackgroundTask[];
  changes: FileInfo[];
  /** How many undone hunks can be brought back. */
  redo: number;
  modes?: Modes;
  models?: Models;
  usage?: Usage;
  /** Counts what was added, for ids of items that the server gives none. */
  serial: number;
}

export function emptyConversation(sessionId: string, choices: Choices = {}): Conversation {
  const nothing = { items: [], running: false, queued: [], tasks: [], changes: [], redo: 0, serial: 0 };
  return { sessionId, ...nothing, ...choices };
}

export interface ServerStatus {
  state: 'starting' | 'running' | 'stopped';
  problem?: string;
  actions: Action[];
}

export interface History {
  open: boolean;
  loading: boolean;
  sessions: SessionInfo[];
}

/** Everything but the transcript. */
export interface Shell {
  sessionId: string | null;
  title: string;
  folder: string | null;
  cwd: string;
  running: boolean;
  paused?: boolean;
  /** Id of the open question of this conversation, if any. */
  waiting: string | null;
  queued: QueuedPrompt[];
  tasks: BackgroundTask[];
  changes: FileInfo[];
  redo: number;
  modes: Modes | null;
  models: Models | null;
  usage: Usage | null;
  connection: Connection | null;
  server: ServerStatus;
  chips: Chip[];
  history: History;
  /** Other conversations that wait for an answer. */
  others: number;
  sendWithCtrlEnter: boolean;
}

export interface ViewState {
  items: Item[];
  shell: Shell;
}
