// What every in-host test finds: a file, and the extension with the model's double behind it.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export function prepare(t) {
  writeFileSync(join(t.workspace, 'host.txt'), 'one\ntwo\nthree\n');
  return {
    settings: {
      'sidelight.python': t.python,
      'sidelight.environment': {
        ANTHROPIC_BASE_URL: t.model.url,
        ANTHROPIC_API_KEY: 'sk-ant-test-key',
        SIDELIGHT_HOME: join(t.home, 'sidelight'),
      },
    },
  };
}
