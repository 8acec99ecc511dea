/** Pending hunks of the editor's files, and finding one by line; lines are 1-based as on the wire. */

import type { FileInfo, HunkInfo } from '../protocol';

/** A file with changes, and the conversation that made them. */
export interface Pending {
  sessionId: string;
  file: FileInfo;
}

/** A hunk that waits, and the conversation it belongs to. */
export type Waiting = HunkInfo & { sessionId: string };

/** The hunks that wait, from the top; one file may have some of several conversations. */
export function waitingHunks(pending: Pending[]): Waiting[] {
  return pending
    .flatMap(({ sessionId, file }) => file.hunks.map((hunk) => ({ ...hunk, sessionId })))
    .filter((hunk) => (hunk.state ?? 'pending') === 'pending')
    .sort((a, b) => a.line - b.line);
}

/** The pending hunk that covers or touches the lines; the nearest when several do. */
export function hunkAt(hunks: Waiting[], first: number, last: number): Waiting | undefined {
  const touching = hunks.filter(
    (hunk) => hunk.line <= last + 1 && hunk.line + Math.max(hunk.lines, 1) >= first,
  );
  return touching.sort((a, b) => Math.abs(a.line - first) - Math.abs(b.line - first))[0];
}

/** The next hunk after the line, or before it; wraps around. */
export function nextHunk(hunks: Waiting[], line: number, step: 1 | -1): Waiting | undefined {
  if (step > 0) return hunks.find((hunk) => hunk.line > line) ?? hunks[0];
  return hunks.findLast((hunk) => hunk.line < line) ?? hunks.at(-1);
}

export function countWaiting(pending: Pending[]): { files: number; hunks: number } {
  const waiting = pending.filter((one) => waitingHunks([one]).length > 0);
  return { files: new Set(waiting.map(({ file }) => file.uri)).size, hunks: waitingHunks(pending).length };
}
