/** What the extension and the panel say to each other; both sides are checked against these types. */

import type { Patch } from '../patch';
import type { ViewCommand, ViewState } from '../state';

/** A picture pasted into the prompt, data in base64. */
export interface PastedImage {
  name: string;
  mimeType: string;
  data: string;
}

export type ToView =
  | { type: 'init'; state: ViewState; strings: Record<string, string>; locale: string }
  | { type: 'patch'; patch: Patch }
  | { type: 'focusPrompt' }
  | { type: 'goToQuestion' }
  | { type: 'insert'; text: string; send?: boolean }
  | { type: 'refused'; text: string; images: PastedImage[] };

export type FromView =
  | { type: 'ready' }
  | { type: 'focus'; on: boolean }
  | { type: 'send'; text: string; images: PastedImage[] }
  | { type: 'stop' }
  | { type: 'mode'; id: string }
  | { type: 'answer'; id: string; optionId: string; feedback?: string; command?: string }
  | { type: 'review'; action: 'keep' | 'undo'; hunkId?: string; path?: string }
  | { type: 'openFile'; path: string; line?: number }
  | { type: 'openDiff'; path: string }
  | { type: 'openOutput'; id: string }
  | { type: 'openLink'; href: string }
  | { type: 'copy'; text: string }
  | { type: 'selection'; on: boolean }
  | { type: 'addContext' }
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
  'answer',
  'review',
  'openFile',
  'openDiff',
  'openOutput',
  'openLink',
  'copy',
  'selection',
  'addContext',
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
