/** What is read out: few things, once each, never what streams or ticks. Pure. */

import type { AskItem, Item, ViewState } from '../../state';
import { questionOf } from './askCard';
import { firstSentence, visible } from './format';
import { t } from './l10n';
import { modeName } from './modeMenu';
import { changesLabel } from './strips';

export interface Announcements {
  polite: string[];
  /** Interrupts: a question with its whole command, or an error that ended the turn. */
  alert?: string;
}

function newItems<K extends Item['kind']>(
  before: ViewState,
  after: ViewState,
  kind: K,
): Extract<Item, { kind: K }>[] {
  const known = new Set(before.items.map((item) => item.id));
  return after.items.filter(
    (item): item is Extract<Item, { kind: K }> => item.kind === kind && !known.has(item.id),
  );
}

function question(ask: AskItem): string {
  const { detail } = ask;
  const what =
    detail.command === undefined ? (detail.diffs ?? []).map((diff) => diff.path) : [visible(detail.command)];
  return [t('Sidelight needs an answer.'), questionOf(detail), ...what, t('Alt+A goes there.')].join(' ');
}

function turn(before: ViewState, after: ViewState): string[] {
  if (before.shell.running === after.shell.running) return [];
  if (after.shell.running) return [t('Working')];
  const last = after.items.findLast((item) => item.kind === 'text');
  return [last ? firstSentence(last.text) : t('Done')];
}

function dock(before: ViewState, after: ViewState): string[] {
  const said: string[] = [];
  const { shell: was } = before;
  const { shell: is } = after;
  if (was.changes !== is.changes && (was.changes.length > 0 || is.changes.length > 0)) {
    const words = is.changes.length
      ? t('{0} to review', changesLabel(is.changes).text)
      : t('Nothing left to review');
    said.push(words);
  }
  if (is.queued.length > was.queued.length) said.push(t('{0} queued', is.queued.length));
  if (is.modes && was.modes && is.modes.currentModeId !== was.modes.currentModeId) {
    said.push(t('Mode: {0}', modeName(is.modes)));
  }
  return said;
}

/** What changed between two states of the same conversation, in words. */
export function announcements(before: ViewState, after: ViewState): Announcements {
  if (before.shell.sessionId !== after.shell.sessionId) return { polite: [] };
  const polite = [...turn(before, after), ...dock(before, after)];
  const [ask] = newItems(before, after, 'ask').filter((item) => item.answer === undefined);
  const error = newItems(before, after, 'notice').find((item) => item.severity === 'error');
  if (ask) return { polite, alert: question(ask) };
  return error ? { polite, alert: error.text } : { polite };
}
