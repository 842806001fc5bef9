import { afterEach, beforeEach, test } from '@jest/globals'
import { ArtifactService } from '../step/artifact-service.js'
import { FakeService } from '../fake-service.js'
import { Step } from '../step/step.js'
import type { StepResult } from '../step/step.js'

export const GRID =
  '- { region: us-east-1, instance_quantity: 2, instance_type: m5.large, infrastructure: demand, stop_after: 60 }'

export interface Stage {
  service: FakeService
  artifacts: ArtifactService
  step: Step
  artifactOf(result: StepResult): Map<string, Buffer>
}

/** A service, an artifact store and a step that would pass, fresh for each test of the file. */
export function setStage(): Stage {
  const stage = {} as Stage
  beforeEach(async () => void Object.assign(stage, await openStage()))
  afterEach(() => closeStage(stage))
  return stage
}

/** A test with a stage of its own. They run at the same time, for the bundles wait more than they work. */
export function testOnStage(name: string, run: (stage: Stage) => Promise<void>, timeoutMs?: number): void {
  test.concurrent(name, onStage(run), timeoutMs)
}

/** The same for `test.concurrent.each`. */
export function onStage(run: (stage: Stage) => Promise<void>): () => Promise<void> {
  return async () => {
    const stage = await openStage()
    try {
      await run(stage)
    } finally {
      await closeStage(stage)
    }
  }
}

async function openStage(): Promise<Stage> {
  const service = await new FakeService().start()
  const artifacts = await new ArtifactService().start()
  const step = new Step()
  step.env = { ...artifacts.env }
  step.inputs = {
    'base-url': service.url,
    token: service.token,
    files: 'plan.jmx',
    grids: GRID,
    thresholds: 'apdex >= 0.85',
    'poll-interval': '1s'
  }
  const artifactOf = ({ outputs }: StepResult): Map<string, Buffer> =>
    artifacts.artifacts.get(`loadgate-${outputs['run-id'] ?? ''}`) ?? new Map<string, Buffer>()
  return { service, artifacts, step, artifactOf }
}

async function closeStage({ service, artifacts, step }: Stage): Promise<void> {
  await service.stop()
  await artifacts.stop()
  step.remove()
}
