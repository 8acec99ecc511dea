// What every click test finds: a small project with hooks, and the extension that asks the model's double.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const LINES = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'];

export function prepare(t) {
  const write = (name, text) => writeFileSync(join(t.workspace, name), text);
  for (const name of ['edit.txt', 'deny.txt', 'hunks.txt', 'action.txt', 'reload.txt', 'earlier.txt', 'dirty.txt', 'auto.txt']) {
    write(name, `${LINES.join('\n')}\n`);
  }
  write('watched.txt', 'before\n');
  write('mentioned.txt', 'a line to be mentioned\n');
  mkdirSync(join(t.workspace, '.claude'));
  const hook = { type: 'command', command: `cat >> ${join(t.workspace, 'hook.log')}` };
  const hooks = { FileChanged: [{ matcher: 'watched.txt', hooks: [hook] }] };
  write(join('.claude', 'settings.json'), JSON.stringify({ hooks }));
  t.environment = {
    ANTHROPIC_BASE_URL: t.model.url,
    ANTHROPIC_API_KEY: 'sk-ant-test-key',
    SIDELIGHT_HOME: join(t.home, 'sidelight'),
  };
  return { settings: { 'sidelight.python': t.python, 'sidelight.environment': t.environment } };
}
