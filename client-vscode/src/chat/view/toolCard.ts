/** Cards for what runs or edits: a head, a body with output or diff, at most a foot. */

import { html, nothing, type TemplateResult } from 'lit-html';

import type { ToolItem } from '../../state';
import type { App } from './app';
import { type Call, turnsOf } from './articles';
import { duration, lastLines, plain, visible, within } from './format';
import { icon, type IconName } from './icons';
import { t } from './l10n';
import { iconButton, miniDiff, type Piece, plusMinus, quietButton, runningTime } from './parts';
import { endedRow, targetOf, verbOf } from './toolRow';

const LIVE_LINES = 8;
const DIFF_LINES = 6;

/** Whether a card is open when nobody touched it. */
export function opensItself(
  tool: ToolItem,
  newestEdit: boolean,
  current: boolean,
  pending: boolean,
): boolean {
  if (tool.status === 'failed') return current;
  if (tool.family === 'edit') return tool.diffs.length > 0 && newestEdit && (current || pending);
  return tool.status === 'running' && tool.family === 'run';
}

function pathOf(tool: ToolItem): string {
  return tool.diffs[0]?.path ?? tool.path ?? '';
}

export function isPending(app: App, tool: ToolItem): boolean {
  return app.state.shell.changes.some((file) => file.path === pathOf(tool));
}

/** What the card's opening depends on, as one value for comparison. */
export function defaultOpen(app: App, tool: ToolItem): boolean {
  const { lastEdits, current } = turnsOf(app.state.items);
  return opensItself(tool, lastEdits.has(tool.id), current.has(tool.id), isPending(app, tool));
}

const FAMILY_ICONS: Record<ToolItem['family'], IconName> = {
  read: 'file',
  search: 'search',
  edit: 'edit',
  run: 'term',
  other: 'globe',
};

function headIcon(tool: ToolItem): TemplateResult {
  if (tool.status === 'running') return icon('spin');
  if (tool.status === 'failed') return icon('error', 'danger');
  return icon(FAMILY_ICONS[tool.family]);
}

function headMeta(tool: ToolItem): Piece {
  if (tool.status === 'running') return runningTime(tool.startedAt);
  const failed = tool.exitCode ? t('exit {0}', tool.exitCode) : t('failed');
  if (tool.family === 'edit' && tool.status === 'done') {
    const sum = (side: 'added' | 'removed') => tool.diffs.reduce((all, diff) => all + diff[side], 0);
    return plusMinus(sum('added'), sum('removed'));
  }
  return html`${tool.status === 'failed' ? html`<span class="danger">${failed}</span>` : nothing}${
    tool.ms === undefined ? nothing : html`<span class="num">${duration(tool.ms)}</span>`
  }`;
}

function outputBody(app: App, tool: ToolItem): TemplateResult {
  const live = tool.status === 'running';
  const { text, before } = lastLines(plain(tool.output), live ? LIVE_LINES : 200);
  const earlier = tool.cut + before;
  const open = quietButton(t('Open in editor'), 'openOutput', () =>
    app.post({ type: 'openOutput', id: tool.id }),
  );
  const above = html`<span class="cut muted"
    >${t('{0} earlier lines', earlier)} ${live ? nothing : open}</span
  >`;
  if (!text)
    return html`<div class="out">
      <span class="cut none muted">${live ? t('No output yet') : t('No output')}</span>
    </div>`;
  return html`<div class="out">
    ${earlier ? above : nothing}
    <pre tabindex="0" role="region" aria-label=${t('Output')} aria-busy=${live}>${text}</pre>
  </div>`;
}

/** The whole command, when the head cannot hold it. */
function commandLine(tool: ToolItem): Piece {
  const long = tool.target.includes('\n') || tool.target.length > 40;
  if (tool.family !== 'run' || !long) return nothing;
  return html`<div class="cmd mono">
    <span class="ps">$ </span><span class="whole" .textContent=${visible(tool.target)}></span>
  </div>`;
}

function body(app: App, tool: ToolItem): TemplateResult {
  if (tool.diffs.length) {
    return html`${tool.diffs.map((diff) => miniDiff(app, `${tool.id}:more`, diff, DIFF_LINES))}`;
  }
  return html`${tool.status === 'running' ? nothing : commandLine(tool)}${outputBody(app, tool)}`;
}

/** Where the change begins, in the text as it is now. */
function firstLine(tool: ToolItem): number {
  const lines = tool.diffs[0]?.lines ?? [];
  const at = lines.findIndex((line) => line.sign !== ' ');
  return lines.slice(at).find((line) => line.new !== undefined)?.new ?? 1;
}

function foot(app: App, tool: ToolItem): Piece {
  if (tool.family !== 'edit' || tool.status !== 'done') return nothing;
  const path = pathOf(tool);
  if (!path) return nothing;
  const diff = quietButton(t('Open diff'), 'openDiff', () => app.post({ type: 'openDiff', path }), true);
  if (!isPending(app, tool)) {
    const word = app.ui.settled.get(path);
    const said = word === 'kept' ? t('Kept') : word ? t('Undone by you') : '';
    const file = () => app.post({ type: 'openFile', path, line: firstLine(tool) });
    return html`<div class="foot">
      <span class="muted ell grow">${said}</span>${quietButton(t('Open file'), 'openFile', file, true)}
    </div>`;
  }
  const settle = (action: 'keep' | 'undo') => {
    app.ui.settled.set(path, action === 'keep' ? 'kept' : 'undone');
    app.post({ type: 'review', action, path });
  };
  return html`<div class="foot">
    <span class="muted ell grow">${t('Applied, waiting for review')}</span>${diff}${quietButton(
      t('Undo'),
      'undo',
      () => settle('undo'),
      true,
    )}${quietButton(t('Keep'), 'keep', () => settle('keep'))}
  </div>`;
}

function cardName(app: App, tool: ToolItem): string {
  const target = tool.family === 'edit' ? within(app.state.shell.cwd, pathOf(tool)) : tool.target;
  return `${verbOf(tool)} ${target.split('\n')[0] ?? ''}`.trim();
}

/** The tools whose commands may go on in the background. */
const SHELLS: ReadonlySet<string> = new Set(['Bash', 'PowerShell']);

export function toolCard(app: App, call: Call): TemplateResult {
  const { tool } = call;
  if (tool.status === 'denied' || tool.status === 'stopped') return endedRow(app, call);
  const open = app.isOpen(tool.id, defaultOpen(app, tool));
  const stop = iconButton('stop', t('Stop this call'), 'stopCall', () =>
    app.post({ type: 'stopCall', id: tool.id }),
  );
  const move = iconButton('down', t('Move to the background'), 'moveCall', () =>
    app.post({ type: 'moveCall', id: tool.id }),
  );
  const created = tool.diffs[0]?.creates === true && tool.tool === 'Write';
  return html`<section
    class="card"
    aria-label=${cardName(app, tool)}
    data-tool=${tool.tool}
    data-status=${tool.status}
  >
    <div class="head">
      <button class="row" type="button" aria-expanded=${open} @click=${() => app.toggle(tool.id, !open)}>
        ${headIcon(tool)}<span class="lbl"
          ><b>${created ? t('Create') : verbOf(tool)}</b> ${targetOf(app, tool)}</span
        ><span class="meta">${headMeta(tool)}${icon('right', 'chev')}</span></button
      >${tool.status === 'running' && tool.family === 'run' ? html`${SHELLS.has(tool.tool) ? move : nothing}${stop}` : nothing}
    </div>
    <div ?hidden=${!open}>
      ${
        open
          ? html`<div class="body">${body(app, tool)}</div>
              ${foot(app, tool)}`
          : nothing
      }
    </div>
  </section>`;
}
