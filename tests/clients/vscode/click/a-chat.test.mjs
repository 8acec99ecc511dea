// A task is typed into the panel; the agent reads and answers.

export const name = 'a task typed into the panel is worked on and answered';

export async function run(t) {
  await t.model.play([
    [{ text: 'I will look at the file.' }],
  ]);
  await t.screenshot('first');
}
