/** Quiet rows: what only reads is one grey line, runs of it are joined and open to one line each. */

import { html, nothing, type TemplateResult } from 'lit-html';

import type { ToolItem } from '../../state';
import type { App } from './app';
import type { Call, Reads } from './articles';
import { duration, lastLines, plain } from './format';
import { icon, type IconName } from './icons';
import { count, t } from './l10n';
import { pathLabel, type Piece } from './parts';

const VERBS: Record<string, () => string> = {
  Read: () => t('Read'),
  Grep: () => t('Search'),
  Glob: () => t('Find'),
  Bash: () => t('Run'),
  PowerShell: () => t('Run'),
  Monitor: () => t('Watch'),
  Edit: () => t('Edit'),
  NotebookEdit: () => t('Edit'),
  Write: () => t('Write'),
};

export function verbOf(tool: ToolItem): string {
  return VERBS[tool.tool]?.() ?? tool.tool;
}

/** A path, a command or a pattern, as what it is. */
export function targetOf(app: App, tool: ToolItem): Piece {
  if (tool.path !== undefined && tool.family !== 'search') return pathLabel(app, tool.path);
  const line = tool.target.split('\n')[0] ?? '';
  return line ? html`<code class="ell ltr" title=${tool.target}>${line}</code>` : nothing;
}

/** What a run of reading comes to, in words; its first verb is in capitals. */
export function readsLabel(tools: ToolItem[]): string {
  const files = new Set(
    tools.filter((tool) => tool.family === 'read').map((tool) => tool.path ?? tool.target),
  );
  const searches = tools.filter((tool) => tool.family === 'search').length;
  const read = count(files.size, 'Read {0} file', 'Read {0} files');
  if (!searches) return read;
  if (!files.size) return count(searches, 'Searched {0} pattern', 'Searched {0} patterns');
  return t('{0}, {1}', read, count(searches, 'searched {0} pattern', 'searched {0} patterns'));
}

function rowMeta(tool: ToolItem): TemplateResult {
  if (tool.status === 'failed') return html`<span class="danger">${t('failed')}</span>`;
  return html`${tool.note ?? nothing}`;
}

function subRow(app: App, tool: ToolItem): TemplateResult {
  const name: IconName = tool.status === 'running' ? 'spin' : tool.family === 'read' ? 'file' : 'search';
  const inside = html`${icon(tool.status === 'failed' ? 'error' : name, tool.status === 'failed' ? 'danger' : '')}<span
      class="lbl"
      ><b>${verbOf(tool)}</b> ${targetOf(app, tool)}</span
    ><span class="meta num">${rowMeta(tool)}</span>`;
  const { path } = tool;
  if (tool.family !== 'read' || path === undefined)
    return html`<div class="row" data-tool=${tool.tool}>${inside}</div>`;
  const open = () => app.post({ type: 'openFile', path, ...(tool.line ? { line: tool.line } : {}) });
  return html`<button class="row" type="button" data-tool=${tool.tool} @click=${open}>${inside}</button>`;
}

function readsMeta(tools: ToolItem[]): Piece {
  if (tools.some((tool) => tool.status === 'running')) return nothing;
  const failed = tools.filter((tool) => tool.status === 'failed').length;
  const ms = tools.reduce((sum, tool) => sum + (tool.ms ?? 0), 0);
  return html`${failed ? html`<span class="danger">${t('{0} failed', failed)}</span>` : nothing}${
    ms >= 50 ? html`<span class="num">${duration(ms)}</span>` : nothing
  }`;
}

export function readsRow(app: App, part: Reads): TemplateResult {
  const { tools, id } = part;
  const open = app.isOpen(id, false);
  const running = tools.some((tool) => tool.status === 'running');
  const [only] = tools;
  const label =
    tools.length === 1 && only
      ? html`<b>${verbOf(only)}</b> ${targetOf(app, only)}`
      : html`<b>${readsLabel(tools)}</b>`;
  return html`<div class="tool" data-reads>
    <button class="row" type="button" aria-expanded=${open} @click=${() => app.toggle(id, !open)}>
      ${icon(running ? 'spin' : 'search')}<span class="lbl">${label}</span
      ><span class="meta">${readsMeta(tools)}${icon('right', 'chev')}</span>
    </button>
    <div class="sub" ?hidden=${!open}>${open ? tools.map((tool) => subRow(app, tool)) : nothing}</div>
  </div>`;
}

/** A call that did not come about, or was cut off: a row, not a card. */
export function endedRow(app: App, { tool, denial }: Call): TemplateResult {
  const denied = tool.status === 'denied';
  const open = app.isOpen(tool.id, true);
  const said = denial ?? lastLines(plain(tool.output), 6).text;
  const words = denied ? said : t('May have partly run. The agent is told.');
  return html`<div class="tool" data-tool=${tool.tool} data-status=${tool.status}>
    <button class="row" type="button" aria-expanded=${open} @click=${() => app.toggle(tool.id, !open)}>
      ${icon(denied ? 'deny' : 'stop')}<span class="lbl"><b>${verbOf(tool)}</b> ${targetOf(app, tool)}</span
      ><span class="meta">${denied ? t('denied') : t('stopped')}${icon('right', 'chev')}</span>
    </button>
    <div class="sub small muted words" ?hidden=${!open} .textContent=${words}></div>
  </div>`;
}
