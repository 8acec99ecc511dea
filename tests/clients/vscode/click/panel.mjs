// What a person does in the chat panel.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const TURN_MS = 20_000;

export class Panel {
  constructor(t) {
    this.t = t;
    this.view = t.workbench.webview();
  }

  /** Show the panel and begin a new conversation. */
  static async fresh(t) {
    const panel = new Panel(t);
    await panel.show();
    const title = panel.view.locator('[data-title]', { hasText: 'New conversation' });
    if ((await title.count()) === 0) await t.workbench.command('Sidelight: New Conversation');
    await title.waitFor();
    await panel.view.locator('[data-prompt]:focus').waitFor(); // the panel is done with taking the focus
    return panel;
  }

  async show() {
    // The status bar goes to the prompt, or back from it to the editor: where it is in sight, click it.
    if (await this.prompt.isVisible()) await this.prompt.click();
    else await this.t.workbench.statusBarItem('Sidelight: ').click();
    await this.view.locator('[data-prompt]:focus').waitFor();
  }

  get prompt() {
    return this.view.locator('[data-prompt]');
  }

  get ask() {
    return this.view.locator('[data-ask]');
  }

  /** Type a task and send it. */
  async send(text) {
    await this.prompt.fill(text);
    await this.view.locator('[data-act="send"]').click();
  }

  /** Answer the open question; a card takes input a moment after it appeared. */
  async answer(option) {
    await this.ask.first().waitFor({ timeout: TURN_MS });
    const id = await this.ask.first().getAttribute('data-ask');
    const card = this.view.locator(`[data-ask="${id}"]`);
    await this.t.until(`the card takes ${option}`, async () => {
      if ((await card.count()) === 0) return true;
      await card.locator(`[data-option="${option}"]`).click({ timeout: 1000 }).catch(() => undefined);
      return false;
    });
  }

  /** Wait until the newest turn has ended. */
  async ended() {
    await this.t.workbench.statusBarItem('Sidelight: ready').waitFor({ timeout: TURN_MS });
    await this.view.locator('[data-foot]:not([data-foot="running"])').last().waitFor();
  }

  async says(text) {
    await this.view.locator('[data-article]', { hasText: text }).first().waitFor({ timeout: TURN_MS });
  }

  card(tool) {
    return this.view.locator(`.card[data-tool="${tool}"], .tool[data-tool="${tool}"]`);
  }

  strip(name) {
    return this.view.locator(`[data-strip="${name}"]`);
  }
}

export function path(t, name) {
  return join(t.workspace, name);
}

export function read(t, name) {
  return { tool_use: 'Read', input: { file_path: path(t, name) } };
}

export function edit(t, name, from, to) {
  const input = { file_path: path(t, name), old_string: from, new_string: to };
  return { tool_use: 'Edit', input };
}

export function bash(command) {
  return { tool_use: 'Bash', input: { command } };
}

/** Wait until the file on disk is this text, or these bytes. */
export async function holds(t, name, content) {
  const wanted = Buffer.from(content);
  await t.until(`${name} on disk`, () => readFileSync(path(t, name)).equals(wanted));
}
