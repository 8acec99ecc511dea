/** The agent's answer: text, thinking, tools, questions and the line at its foot. */

import { html, nothing, type TemplateResult } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import { unsafeHTML } from 'lit-html/directives/unsafe-html.js';

import type { FootItem, TextItem, ThinkingItem } from '../../state';
import type { App } from './app';
import { answerText, type Article, type Part } from './articles';
import { answeredRow, askCard } from './askCard';
import { codeBlock } from './code';
import { clock, duration } from './format';
import { icon } from './icons';
import { t } from './l10n';
import { type Block, Growing } from './markdown';
import { iconButton, type Piece, runningTime } from './parts';
import { toolCard } from './toolCard';
import { readsRow } from './toolRow';

/** Readers of texts by item id; a reader keeps what is finished. */
const readers = new Map<string, Growing>();

function blocksOf(item: TextItem): Block[] {
  let reader = readers.get(item.id); // kept in the order of their use
  reader ??= new Growing();
  readers.delete(item.id);
  readers.set(item.id, reader);
  return reader.update(item.text);
}

const READERS = 200;

/** Forgets the readers that were not used for longest; one that is needed again begins anew. */
export function forgetTexts(): void {
  for (const id of readers.keys()) {
    if (readers.size <= READERS) return;
    readers.delete(id);
  }
}

function textPart(app: App, item: TextItem): TemplateResult {
  const all = blocksOf(item);
  return html`<div class=${item.streaming ? 'prose live' : 'prose'}>
    ${all.map((block, index) =>
      block.kind === 'code'
        ? codeBlock(app, block, item.streaming && index === all.length - 1)
        : html`<div class="block">${unsafeHTML(block.html)}</div>`,
    )}
  </div>`;
}

function thinkingLabel(item: ThinkingItem): TemplateResult {
  if (item.running) return html`${t('Thinking')} ${runningTime(item.startedAt)}`;
  if (item.ms === undefined) return html`${t('Thought')}`;
  return html`${t('Thought for {0} s', Math.max(1, Math.round(item.ms / 1000)))}`;
}

function thinkingPart(app: App, item: ThinkingItem): TemplateResult {
  const open = app.isOpen(item.id, false);
  return html`<div class="thinking">
    <button class="row" type="button" aria-expanded=${open} @click=${() => app.toggle(item.id, !open)}>
      <span class="muted small">${thinkingLabel(item)}</span>${icon('right', 'chev')}
    </button>
    <div class="muted small words" ?hidden=${!open} .textContent=${open ? item.text : ''}></div>
  </div>`;
}

/** How a turn ended; the time is not known of a turn whose server went away. */
const OUTCOMES: Record<NonNullable<FootItem['outcome']>, (took: string) => string> = {
  done: (took) => (took ? t('Done in {0}', took) : t('Done')),
  stopped: (took) => (took ? t('Stopped after {0}', took) : t('Stopped')),
  failed: (took) => (took ? t('Failed after {0}', took) : t('Failed')),
  limit: (took) => (took ? t('Stopped at a limit after {0}', took) : t('Stopped at a limit')),
  refused: (took) => (took ? t('Refused after {0}', took) : t('Refused')),
};

/** One row in one place: it says that work goes on, then how it ended. */
function footPart(app: App, item: FootItem): TemplateResult {
  if (item.running) {
    return html`<div class="turn-foot" data-foot="running">
      <span class="what"
        >${icon('spin')}<span>${t('Working')}</span>${runningTime(item.startedAt)}<span
          >${t('Esc stops')}</span
        ></span
      >
    </div>`;
  }
  const outcome = item.outcome ?? 'done';
  const took = item.ms === undefined ? '' : item.ms < 60_000 ? duration(item.ms) : clock(item.ms);
  const text = answerText(app.state.items, item.id);
  const words = OUTCOMES[outcome](took);
  return html`<div class="turn-foot" data-foot=${outcome}>
    <span class="what num">${words}</span><span class="spacer"></span>${
      text ? iconButton('copy', t('Copy the answer'), 'copyAnswer', () => app.copy(text)) : nothing
    }
  </div>`;
}

function partOf(app: App, part: Part): Piece {
  switch (part.kind) {
    case 'text':
      return textPart(app, part);
    case 'thinking':
      return thinkingPart(app, part);
    case 'reads':
      return readsRow(app, part);
    case 'call':
      return toolCard(app, part);
    case 'question':
      return askCard(app, part);
    case 'answered':
      return answeredRow(part.ask);
    case 'foot':
      return footPart(app, part);
  }
}

export function answerArticle(app: App, article: Article & { kind: 'answer' }): TemplateResult {
  return html`${repeat(
    article.parts,
    (part) => part.id,
    (part) => partOf(app, part),
  )}`;
}
