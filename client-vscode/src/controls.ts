/** Mirror of `wire/controls.py`: waiting prompts, running calls and tasks, a rule. */

export interface EditQueued {
  sessionId: string;
  id: string;
  text: string;
}

export interface RemoveQueued {
  sessionId: string;
  id: string;
}

export interface StopCall {
  sessionId: string;
  toolCallId: string;
}

export interface SetPaused {
  sessionId: string;
  paused: boolean;
}

export interface MoveCall {
  sessionId: string;
  toolCallId: string;
}

export interface StopTask {
  sessionId: string;
  id: string;
}

/** A command that runs on beside the turns. */
export interface BackgroundTask {
  id: string;
  kind: 'shell' | 'monitor';
  command: string;
  description: string;
  toolUseId: string;
  status: 'running' | 'completed' | 'failed' | 'stopped';
  startedAt: number;
  outputFile: string;
}

export interface TasksShown {
  sessionId: string;
  tasks: BackgroundTask[];
}

export interface WasThere {
  done: boolean;
}

export interface CheckRule {
  rule: string;
}

export interface RuleChecked {
  problem?: string;
}

export interface QueuedPrompt {
  id: string;
  text: string;
}
