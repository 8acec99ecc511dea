// What VS Code loads inside the extension host: runs the in-host tests and writes what became of them.

const { appendFileSync, writeFileSync } = require('node:fs');
const vscode = require('vscode');

exports.run = async function run() {
  const { report, counts, folder, only, workspace, model } = JSON.parse(process.env.SIDELIGHT_IN_HOST);
  const print = (line) => appendFileSync(report, `${line}\n`);
  try {
    const { loadTests, runTests } = await import('../runner.mjs');
    const { ModelControl } = await import('../model.mjs');
    const { until } = await import('../processes.mjs');
    const t = { vscode, workspace, model: new ModelControl(model), until };
    const counted = await runTests(await loadTests(folder, only), t, { print });
    writeFileSync(counts, JSON.stringify(counted));
  } catch (error) {
    print(error.stack);
    throw error;
  }
};
