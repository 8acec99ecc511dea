// Builds the extension (Node) and the panel (browser); with --tests the unit tests as well.
import { build, context } from 'esbuild';
import { readdirSync, rmSync } from 'node:fs';

const flags = new Set(process.argv.slice(2));
const common = {
  bundle: true,
  minify: flags.has('--production'),
  sourcemap: !flags.has('--production'),
  target: 'es2022',
  logLevel: 'warning',
  legalComments: 'linked',
};

const extension = {
  ...common,
  entryPoints: ['src/extension.ts'],
  outfile: 'dist/extension.js',
  platform: 'node',
  format: 'cjs',
  external: ['vscode'],
};

const panel = {
  ...common,
  entryPoints: { panel: 'src/chat/view/main.ts' },
  outdir: 'dist',
  platform: 'browser',
  format: 'iife',
};

const tests = () => ({
  ...common,
  entryPoints: readdirSync('test/unit')
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `test/unit/${name}`),
  outdir: 'out/test',
  platform: 'node',
  format: 'esm',
  outExtension: { '.js': '.mjs' },
  sourcemap: 'inline',
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
});

if (flags.has('--watch')) {
  for (const options of [extension, panel]) await (await context(options)).watch();
} else if (flags.has('--tests')) {
  rmSync('out/test', { recursive: true, force: true });
  await build(tests());
} else {
  rmSync('dist', { recursive: true, force: true });
  await Promise.all([build(extension), build(panel)]);
}
