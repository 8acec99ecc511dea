/** The strips on the composer: banners, what waits, pending changes, the queue. One that is missing takes no space. */

import { html, nothing, type TemplateResult } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';

import type { BackgroundTask, FileInfo, HunkInfo } from '../../protocol';
import type { AskItem } from '../../state';
import type { App } from './app';
import { shortQuestion } from './askCard';
import { within } from './format';
import { icon } from './icons';
import { count, t } from './l10n';
import { BYPASS } from './modeMenu';
import { iconButton, pathLabel, type Piece, plusMinus, quietButton, runningTime } from './parts';
import { queuedLine } from './queue';

function banner(label: string, content: TemplateResult, act: string, warn = false): TemplateResult {
  return html`<section class="strip" aria-label=${label} data-strip=${act}>
    <div class=${warn ? 'banner warn' : 'banner'}>${content}</div>
  </section>`;
}

function modeBanner(app: App): Piece {
  const { modes, connection } = app.state.shell;
  if (modes?.currentModeId === BYPASS) {
    const leave = quietButton(t('Leave'), 'leaveBypass', () => app.post({ type: 'mode', id: 'default' }));
    const words = html`${icon('warn')}<span class="grow">${t('Bypass: commands run without asking')}</span
      >${leave}`;
    return banner(t('Mode warning'), words, 'bypass', true);
  }
  if (connection?.demonstration !== true) return nothing;
  const words = html`${icon('info')}<span class="grow"
      >${t('Prewritten demonstration, no model runs')}</span
    >`;
  return banner(t('Demonstration'), words, 'demonstration');
}

function waiting(app: App, ask: AskItem | undefined, show: () => void): Piece {
  if (!ask || !app.ui.questionAway) return nothing;
  const words = html`${icon('now', 'accent')}<span class="grow ell"
      >${t('Waiting for you: {0}', shortQuestion(ask.detail))}</span
    >${quietButton(t('Show'), 'showQuestion', show)}`;
  return banner(t('Waiting for you'), words, 'waiting');
}

function strip(
  app: App,
  name: 'changes' | 'queue' | 'tasks',
  label: string,
  open: boolean,
  parts: { head: TemplateResult; buttons: Piece; body: () => TemplateResult },
): TemplateResult {
  return html`<section class="strip" aria-label=${label} data-strip=${name}>
    <div class="line">
      <button
        class="tog"
        type="button"
        aria-expanded=${open}
        aria-controls="strip-${name}"
        @click=${() => app.toggle(`strip:${name}`, !open)}
      >
        ${icon('right', 'chev')}${parts.head}</button
      >${parts.buttons}
    </div>
    <div class="inner" id="strip-${name}" tabindex="-1" ?hidden=${!open}>
      ${open ? parts.body() : nothing}
    </div>
  </section>`;
}

// --- changes ---

/** Settles a file here and tells the extension; the cards of the file then say what became of it. */
function settleFile(app: App, file: FileInfo, action: 'keep' | 'undo'): void {
  app.ui.settled.set(file.path, action === 'keep' ? 'kept' : 'undone');
  app.post({ type: 'review', action, path: file.path });
}

function hunkLine(app: App, file: FileInfo, hunk: HunkInfo): TemplateResult {
  const settled = hunk.state === 'kept' || hunk.state === 'undone' ? hunk.state : undefined;
  const show = () => app.post({ type: 'openFile', path: file.path, line: hunk.line });
  const settle = (action: 'keep' | 'undo') => () => {
    if (file.hunks.length === 1) app.ui.settled.set(file.path, action === 'keep' ? 'kept' : 'undone');
    app.post({ type: 'review', action, hunkId: hunk.id });
  };
  const word = settled === 'kept' ? t('kept') : t('undone');
  const buttons = html`${iconButton('undo', t('Undo this hunk'), 'undoHunk', settle('undo'))}${iconButton(
    'check',
    t('Keep this hunk'),
    'keepHunk',
    settle('keep'),
  )}`;
  return html`<li class="hunkline ${settled ?? ''}" data-hunk=${hunk.id}>
    <button class="go" type="button" title=${t('Show in the editor')} @click=${show}>
      <span class="num muted tiny">L${hunk.line}</span><code class="ell">${hunk.text}</code></button
    >${settled ? html`<span class="tiny muted">${word}</span>` : buttons}
  </li>`;
}

function fileBlock(app: App, file: FileInfo): TemplateResult {
  const id = `file:${file.path}`;
  const open = app.isOpen(id, file.hunks.length <= 4);
  const name = within(app.state.shell.cwd, file.path);
  return html`<li class="fblock" data-file=${name}>
    <div class="fileline">
      <button
        class="ib tgl"
        type="button"
        aria-expanded=${open}
        aria-label=${t('Hunks of {0}', name)}
        @click=${() => app.toggle(id, !open)}
      >
        ${icon('right', 'chev')}</button
      ><button
        class="go"
        type="button"
        title=${t('Open the diff of {0}', name)}
        data-act="openDiff"
        @click=${() => app.post({ type: 'openDiff', path: file.path })}
      >
        ${pathLabel(app, file.path)}</button
      >${file.creates ? html`<span class="muted tiny">${t('new')}</span>` : nothing}${plusMinus(
        file.added,
        file.removed,
      )}${iconButton('undo', t('Undo this file'), 'undoFile', () => settleFile(app, file, 'undo'))}${iconButton(
        'check',
        t('Keep this file'),
        'keepFile',
        () => settleFile(app, file, 'keep'),
      )}
    </div>
    <ul ?hidden=${!open}>
      ${open ? file.hunks.map((hunk) => hunkLine(app, file, hunk)) : nothing}
    </ul>
  </li>`;
}

/** Files and pending hunks, as counted everywhere else. */
export function changesLabel(files: FileInfo[]): { text: string; hunks: number } {
  const pending = (file: FileInfo) =>
    file.hunks.filter((hunk) => (hunk.state ?? 'pending') === 'pending').length;
  const some = files.filter((file) => pending(file) > 0);
  const hunks = some.reduce((sum, file) => sum + pending(file), 0);
  const words = [count(some.length, '{0} file', '{0} files'), count(hunks, '{0} hunk', '{0} hunks')];
  return { text: t('{0}, {1}', ...words), hunks };
}

function changes(app: App): Piece {
  const files = app.state.shell.changes;
  if (!files.length) return nothing;
  const sum = (side: 'added' | 'removed') => files.reduce((all, file) => all + file[side], 0);
  const all = (action: 'keep' | 'undo') => () => {
    for (const file of files) app.ui.settled.set(file.path, action === 'keep' ? 'kept' : 'undone');
    app.post({ type: 'review', action });
  };
  const narrow = (name: 'undo' | 'check', label: string, act: string, classes: string, run: () => void) =>
    html`<button class="qb nar ${classes}" type="button" title=${label} data-act=${act} @click=${run}>
      ${icon(name)}<span class="tx">${label}</span>
    </button>`;
  const review = () => app.post({ type: 'command', command: 'sidelight.reviewChanges' });
  return strip(app, 'changes', t('Pending changes'), app.isOpen('strip:changes', false), {
    head: html`<span class="ell" data-count>${changesLabel(files).text}</span
      >${plusMinus(sum('added'), sum('removed'), 'wide-only')}`,
    buttons: html`${quietButton(t('Review'), 'review', review)}${narrow('undo', t('Undo all'), 'undoAll', 'plain', all('undo'))}${narrow('check', t('Keep all'), 'keepAll', '', all('keep'))}`,
    body: () =>
      html`<ul>
        ${files.map((file) => fileBlock(app, file))}
      </ul>`,
  });
}

// --- queue ---

function queue(app: App): Piece {
  const { queued } = app.state.shell;
  if (!queued.length) return nothing;
  return strip(app, 'queue', t('Queued prompts'), app.isOpen('strip:queue', true), {
    head: html`<span data-queued>${t('{0} queued', queued.length)}</span>`,
    buttons: nothing,
    body: () =>
      html`<ol class="queue">
        ${repeat(
          queued,
          ({ id }) => id,
          (one, index) => queuedLine(app, one, index),
        )}
      </ol>`,
  });
}

// --- background tasks ---

function task(app: App, { id, command, description, startedAt, outputFile }: BackgroundTask): TemplateResult {
  const stop = () => {
    app.post({ type: 'stopTask', id });
    app.focusPrompt();
  };
  return html`<li data-task=${id} title=${command}>
    ${icon('term')}<button
      class="link grow ell"
      type="button"
      data-act="openTask"
      aria-label=${t('Open the output of {0}', description || command)}
      @click=${() => app.post({ type: 'openFile', path: outputFile })}
    >
      ${description || command}</button
    ><span class="muted">${runningTime(startedAt)}</span>${iconButton(
      'stop',
      t('Stop this background task'),
      'stopTask',
      stop,
    )}
  </li>`;
}

function tasks(app: App): Piece {
  const { tasks: running } = app.state.shell;
  if (!running.length) return nothing;
  return strip(app, 'tasks', t('Background tasks'), app.isOpen('strip:tasks', false), {
    head: html`<span data-tasks
      >${count(running.length, '{0} background task', '{0} background tasks')}</span
    >`,
    buttons: nothing,
    body: () =>
      html`<ul class="queue">
        ${repeat(
          running,
          ({ id }) => id,
          (one) => task(app, one),
        )}
      </ul>`,
  });
}

/** What was undone last can be brought back; it is one step of the editor too. */
function redo(app: App): Piece {
  const { redo: hunks } = app.state.shell;
  if (!hunks) return nothing;
  const back = () => {
    for (const [path, word] of app.ui.settled) if (word === 'undone') app.ui.settled.delete(path);
    app.post({ type: 'review', action: 'redo' });
    app.focusPrompt();
  };
  const words = html`${icon('undo')}<span class="grow ell"
      >${count(hunks, '{0} hunk undone', '{0} hunks undone')}</span
    >${quietButton(t('Bring back'), 'redo', back)}`;
  return banner(t('Undone'), words, 'redo');
}

export function strips(app: App, showQuestion: () => void): TemplateResult {
  const ask = app.state.items.find(
    (item): item is AskItem => item.kind === 'ask' && item.answer === undefined,
  );
  const all = [
    modeBanner(app),
    waiting(app, ask, showQuestion),
    changes(app),
    redo(app),
    tasks(app),
    queue(app),
  ];
  if (all.every((piece) => piece === nothing)) return html``;
  return html`<div class="strips">${all}</div>`;
}
