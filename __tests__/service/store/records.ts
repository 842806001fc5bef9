import { createId } from '../../../src/service/store/data-folder.js'
import type { GridRecord, RunRecord } from '../../../src/contract/records.js'

export function makeGrid(changes: Partial<GridRecord> = {}): GridRecord {
  const spec = {
    ...{ region: 'local', instanceQuantity: 1, instanceType: 'm5.large', infrastructure: 'demand' as const },
    stopAfterMin: 10
  }
  return {
    id: createId(),
    spec,
    batchId: null,
    createdMs: 1,
    status: 'starting',
    startedMs: null,
    ...changes
  }
}

export function makeRun({
  request,
  ...changes
}: Partial<Omit<RunRecord, 'request'>> & { request?: Partial<RunRecord['request']> } = {}): RunRecord {
  return {
    ...{ id: createId(), batchId: createId(), gridIds: [], files: [], createdMs: 1, sequence: 1 },
    request: {
      ...{ tool: 'jmeter', name: null, notes: null, project: null, tags: [], privacy: 'private' },
      ...{ threads: null, rampupSec: null, durationSec: null, hosts: [], properties: [] },
      ...request
    },
    ...{ toolVersion: null, status: 'queued', apdex: null, samples: null, remoteErrors: null },
    ...{ startedMs: null, stoppedMs: null, report: null },
    ...changes
  }
}
