/** What the extension and the panel say to each other; both sides are checked against these types. */

import type { Patch } from '../patch';
import type { ViewCommand, ViewState } from '../state';

/** A picture pasted into the prompt, data in base64. */
export interface PastedImage {
  name: string;
  mimeType: string;
  data: string;
}

/** What may be mentioned: the selection, a file or a folder of the workspace. */
export interface Found {
  kind: 'selection' | 'file' | 'folder';
  name: string;
  /** Where it lies, as seen from the workspace; lines of a selection. */
  detail: string;
  path: string;
  /** What stands in the prompt for it. */
  insert: string;
  /** Places in the name that were searched for. */
  hits: number[];
  /** Whether it is open in an editor. */
  open?: boolean;
}

export type ToView =
  | { type: 'init'; state: ViewState; strings: Record<string, string>; locale: string }
  | { type: 'patch'; patch: Patch }
  | { type: 'focusPrompt' }
  | { type: 'goToQuestion' }
  | { type: 'insert'; text: string; send?: boolean }
  /** Answer to `find`; one that is older than the last question is dropped. */
  | { type: 'found'; serial: number; found: Found[] }
  /** Why a rule may not be kept, as the person is writing it; empty when it may. */
  | { type: 'ruleChecked'; id: string; rule: string; problem: string }
  | { type: 'refused'; text: string; images: PastedImage[] };

export type FromView =
  | { type: 'ready' }
  | { type: 'focus'; on: boolean }
  | { type: 'send'; text: string; images: PastedImage[] }
  | { type: 'stop' }
  | { type: 'pause'; on: boolean }
  | { type: 'mode'; id: string }
  | { type: 'model'; id: string }
  | { type: 'stopCall'; id: string }
  | { type: 'moveCall'; id: string }
  | { type: 'stopTask'; id: string }
  | { type: 'queued'; id: string; text?: string; send?: boolean }
  | { type: 'checkRule'; id: string; rule: string }
  | { type: 'answer'; id: string; optionId: string; feedback?: string; command?: string; rules?: string[] }
  | { type: 'review'; action: 'keep' | 'undo' | 'redo'; hunkId?: string; path?: string }
  | { type: 'openFile'; path: string; line?: number }
  | { type: 'openDiff'; path: string }
  | { type: 'openOutput'; id: string }
  | { type: 'openLink'; href: string }
  | { type: 'copy'; text: string }
  | { type: 'selection'; on: boolean }
  | { type: 'find'; serial: number; query: string }
  | { type: 'mention'; kind: Found['kind']; path: string }
  | { type: 'addFiles'; uris: string[] }
  | { type: 'removeChip'; id: string }
  | { type: 'history'; open: boolean }
  | { type: 'load'; sessionId: string }
  | { type: 'command'; command: ViewCommand };

const KINDS: readonly FromView['type'][] = [
  'ready',
  'focus',
  'send',
  'stop',
  'mode',
  'model',
  'stopCall',
  'pause',
  'moveCall',
  'stopTask',
  'queued',
  'checkRule',
  'answer',
  'review',
  'openFile',
  'openDiff',
  'openOutput',
  'openLink',
  'copy',
  'selection',
  'find',
  'mention',
  'addFiles',
  'removeChip',
  'history',
  'load',
  'command',
];

/** Tells a message of the panel from anything else that might be posted. */
export function isFromView(value: unknown): value is FromView {
  return (
    typeof value === 'object' &&
    value !== null &&
    (KINDS as readonly unknown[]).includes((value as { type?: unknown }).type)
  );
}
