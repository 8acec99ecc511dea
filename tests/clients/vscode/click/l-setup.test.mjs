// Where no Python can run the server, the panel offers to set one up: a click, and the agent answers.

import { Panel } from './panel.mjs';

export const name = 'without a Python for the server the panel sets one up from what the extension brings';
export const timeout = 420_000;

const MAKE_MS = 300_000;

export async function run(t) {
  const settings = t.workbench.server;
  // The checkout's own code must not be what answers.
  const environment = { ...t.environment, PYTHONPATH: '' };
  settings.set({ 'sidelight.python': '', 'sidelight.environment': environment });
  try {
    await t.workbench.reload('Sidelight: stopped');
    await t.workbench.command('Sidelight: Go to the Prompt, or Back to the Editor');
    const view = t.workbench.webview();
    await view.getByText('No Python here can run the server').first().waitFor();
    await t.screenshot('setup');
    await view.getByRole('button', { name: 'Set up Python' }).first().click();
    await t.page.getByText('Setting up Python for Sidelight').first().waitFor();
    await t.workbench.statusBarItem('Sidelight: ready').waitFor({ timeout: MAKE_MS });
    const panel = await Panel.fresh(t);
    await t.model.play([{ reply: ['From an environment of its own.'] }]);
    await panel.send('Where do you run?');
    await view.getByText('From an environment of its own.').first().waitFor();
  } finally {
    settings.set({ 'sidelight.python': t.python, 'sidelight.environment': t.environment });
    await t.workbench.reload();
  }
}
