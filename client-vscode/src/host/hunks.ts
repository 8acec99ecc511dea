/** Finding a pending hunk by line; lines are 1-based as on the wire. */

import type { FileInfo, HunkInfo } from '../protocol';

export function pendingHunks(file: FileInfo | undefined): HunkInfo[] {
  return (file?.hunks ?? []).filter((hunk) => (hunk.state ?? 'pending') === 'pending');
}

/** The pending hunk that covers or touches the lines; the nearest when several do. */
export function hunkAt(hunks: HunkInfo[], first: number, last: number): HunkInfo | undefined {
  const touching = hunks.filter(
    (hunk) => hunk.line <= last + 1 && hunk.line + Math.max(hunk.lines, 1) >= first,
  );
  return touching.sort((a, b) => Math.abs(a.line - first) - Math.abs(b.line - first))[0];
}

/** The next hunk after the line, or before it; wraps around. */
export function nextHunk(hunks: HunkInfo[], line: number, step: 1 | -1): HunkInfo | undefined {
  const ordered = [...hunks].sort((a, b) => a.line - b.line);
  if (step > 0) return ordered.find((hunk) => hunk.line > line) ?? ordered[0];
  return ordered.findLast((hunk) => hunk.line < line) ?? ordered.at(-1);
}

export function count(files: FileInfo[]): { files: number; hunks: number } {
  const pending = files.map((file) => pendingHunks(file).length).filter((hunks) => hunks > 0);
  return { files: pending.length, hunks: pending.reduce((sum, hunks) => sum + hunks, 0) };
}
