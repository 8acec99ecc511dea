/** Mirror of the server's `wire/methods.py`, `controls.py` and `reviewing.py`: every custom method with its params and result. */

import type {
  CheckRule,
  EditQueued,
  MoveCall,
  QueuedPrompt,
  RemoveQueued,
  RuleChecked,
  SetPaused,
  StopCall,
  StopTask,
  TasksShown,
  WasThere,
} from './controls';

export type * from './controls';

export const PROTOCOL = 1;

export type Json = Record<string, unknown>;

// --- what a prompt is made of ---

export interface TextBlock {
  type: 'text';
  text: string;
}

export interface ImageBlock {
  type: 'image';
  mimeType: string;
  data: string;
}

export interface EmbeddedText {
  uri: string;
  text: string;
  mimeType?: string;
}

/** Context that goes along; the uri of a selection ends in `#L5-L10`. */
export interface ResourceBlock {
  type: 'resource';
  resource: EmbeddedText;
}

export type PromptBlock = TextBlock | ImageBlock | ResourceBlock;

// --- session/* ---

export interface ModeInfo {
  id: string;
  name: string;
  description?: string;
}

export interface Modes {
  currentModeId: string;
  availableModes: ModeInfo[];
}

export interface ModelInfo {
  modelId: string;
  name: string;
  description?: string;
}

/** Models that may be picked for a conversation, and the one that answers. */
export interface Models {
  currentModelId: string;
  availableModels: ModelInfo[];
}

export interface NewSession {
  cwd: string;
  mcpServers: Json[];
}

export interface SessionCreated {
  sessionId: string;
  modes: Modes;
  models: Models;
}

export interface LoadSession {
  sessionId: string;
  cwd: string;
  mcpServers: Json[];
}

export interface SessionLoaded {
  modes: Modes;
  models: Models;
}

export interface ListSessions {
  cwd?: string;
}

export interface SessionInfo {
  sessionId: string;
  cwd: string;
  title?: string;
  updatedAt?: string;
}

export interface SessionList {
  sessions: SessionInfo[];
}

export interface Prompt {
  sessionId: string;
  prompt: PromptBlock[];
  messageId?: string;
}

export type StopReason = 'end_turn' | 'max_tokens' | 'max_turn_requests' | 'refusal' | 'cancelled';

export interface PromptEnded {
  stopReason: StopReason;
  _meta?: Json;
}

export interface Cancel {
  sessionId: string;
}

export interface SetMode {
  sessionId: string;
  modeId: string;
}

/** Another model from the next turn on; refused while one runs. */
export interface SetModel {
  sessionId: string;
  modelId: string;
}

export type Nothing = Record<string, never>;

export interface SessionUpdate {
  sessionId: string;
  update: Json;
}

export type OptionKind = 'allow_once' | 'allow_always' | 'reject_once' | 'reject_always';

export interface PermissionOption {
  optionId: string;
  name: string;
  kind: OptionKind;
}

export interface RequestPermission {
  sessionId: string;
  toolCall: Json;
  options: PermissionOption[];
  _meta?: Json;
}

export interface DiffLine {
  sign: ' ' | '+' | '-';
  text: string;
  old?: number;
  new?: number;
}

export interface FileDiff {
  path: string;
  added: number;
  removed: number;
  lines: DiffLine[];
  creates?: boolean;
}

export interface PermissionDetail {
  id: string;
  kind: 'command' | 'edit' | 'other';
  tool: string;
  title: string;
  why: string;
  dangerous?: boolean;
  command?: string;
  /** The part of `command` that made the server ask; absent if it is all of it. */
  cause?: string;
  description?: string;
  effects?: string[];
  diffs?: FileDiff[];
  rules?: string[];
  /** Whether the answer may carry other `rules` under `_meta.sidelight`. */
  rulesEditable?: boolean;
}

export interface PermissionOutcome {
  outcome: 'selected' | 'cancelled';
  optionId?: string;
  _meta?: Json;
}

export interface PermissionAnswer {
  outcome: PermissionOutcome;
}

// --- _sidelight/* ---

export interface State {
  sessionId: string;
  state: 'idle' | 'running' | 'requires_action';
  paused?: boolean;
  turnId?: string;
  startedAt?: number;
  durationMs?: number;
  queued?: QueuedPrompt[];
  error?: string;
}

export interface NoticeShown {
  sessionId?: string;
  severity: 'info' | 'warning' | 'error';
  text: string;
}

export interface Retry {
  sessionId: string;
  attempt: number;
  delayMs: number;
  cause: string;
}

/** The optional small model, while there is none for the agent; `ready` says that its actions work. */
export interface SmallModel {
  ready: boolean;
  title: string;
  megabytes: number;
  licence: string;
  place: string;
}

export interface Connection {
  ready: boolean;
  model?: string;
  source?: string;
  problem?: string;
  tried?: string[];
  demonstration?: boolean;
  small?: SmallModel;
  /** Models that may be picked. */
  models?: ModelInfo[];
}

export interface Connect {
  apiKey?: string;
}

export type HunkState = 'pending' | 'kept' | 'undone';

export interface HunkInfo {
  id: string;
  line: number;
  lines: number;
  added: number;
  removed: number;
  text: string;
  state?: HunkState;
}

export interface FileInfo {
  uri: string;
  path: string;
  added: number;
  removed: number;
  creates?: boolean;
  hunks: HunkInfo[];
}

export interface Changes {
  sessionId: string;
  files: FileInfo[];
  /** How many undone hunks `redo` would put back. */
  redo?: number;
}

export interface Review {
  sessionId: string;
  action: 'keep' | 'undo' | 'redo';
  hunkId?: string;
  path?: string;
}

export interface Reviewed {
  done: number;
  problem?: string;
}

export interface Original {
  uri: string;
}

export interface OriginalText {
  text?: string | null;
}

export interface AddToChat {
  uri: string;
  startLine: number;
  endLine: number;
  text: string;
  prompt?: string;
  send?: boolean;
}

export interface TerminalCwd {
  oldCwd: string;
  newCwd: string;
}

// --- typed constants: the name on the wire, the params and the result ---

/** A request; the type arguments exist only for the compiler. */
export interface Request<P, R> {
  readonly method: string;
  readonly types?: (params: P) => R;
}

export interface Notification<P> {
  readonly method: string;
  readonly types?: (params: P) => void;
}

export const requests = {
  newSession: { method: 'session/new' } as Request<NewSession, SessionCreated>,
  loadSession: { method: 'session/load' } as Request<LoadSession, SessionLoaded>,
  listSessions: { method: 'session/list' } as Request<ListSessions, SessionList>,
  prompt: { method: 'session/prompt' } as Request<Prompt, PromptEnded>,
  setMode: { method: 'session/set_mode' } as Request<SetMode, Nothing>,
  setModel: { method: 'session/set_model' } as Request<SetModel, Nothing>,
  connect: { method: '_sidelight/connect' } as Request<Connect, Connection>,
  review: { method: '_sidelight/review' } as Request<Review, Reviewed>,
  original: { method: '_sidelight/original' } as Request<Original, OriginalText>,
  checkRule: { method: '_sidelight/check_rule' } as Request<CheckRule, RuleChecked>,
  editQueued: { method: '_sidelight/queue_edit' } as Request<EditQueued, WasThere>,
  removeQueued: { method: '_sidelight/queue_remove' } as Request<RemoveQueued, WasThere>,
  stopCall: { method: '_sidelight/stop_call' } as Request<StopCall, WasThere>,
  pause: { method: '_sidelight/pause' } as Request<SetPaused, WasThere>,
  moveCall: { method: '_sidelight/move_call' } as Request<MoveCall, WasThere>,
  stopTask: { method: '_sidelight/stop_task' } as Request<StopTask, WasThere>,
};

export const notifications = {
  cancel: { method: 'session/cancel' } as Notification<Cancel>,
  terminalCwd: { method: '_sidelight/terminal_cwd' } as Notification<TerminalCwd>,
};

export const fromServer = {
  update: { method: 'session/update' } as Notification<SessionUpdate>,
  requestPermission: { method: 'session/request_permission' } as Request<RequestPermission, PermissionAnswer>,
  state: { method: '_sidelight/state' } as Notification<State>,
  notice: { method: '_sidelight/notice' } as Notification<NoticeShown>,
  retry: { method: '_sidelight/retry' } as Notification<Retry>,
  tasks: { method: '_sidelight/tasks' } as Notification<TasksShown>,
  connection: { method: '_sidelight/connection' } as Notification<Connection>,
  changes: { method: '_sidelight/changes' } as Notification<Changes>,
  addToChat: { method: '_sidelight/add_to_chat' } as Notification<AddToChat>,
};

/** Our additions of a protocol object, from their place under `_meta.sidelight`. */
export function metaOf(value: { _meta?: unknown }): Json {
  const meta = value._meta;
  if (typeof meta !== 'object' || meta === null) return {};
  const ours = (meta as Json)['sidelight'];
  return typeof ours === 'object' && ours !== null ? (ours as Json) : {};
}
