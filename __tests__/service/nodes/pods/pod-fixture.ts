import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../../../src/contract/clock.js'
import type { NodeCommand } from '../../../../src/service/nodes/load-node.js'
import {
  createPodNode,
  type PodNode,
  type PodNodeParts
} from '../../../../src/service/nodes/pods/pod-place.js'
import { POD_TIMINGS } from '../../../../src/service/nodes/pods/work/pod-contact.js'
import { type Cut, type LocalPods, startLocalPods } from '../../../support/kubernetes/local-pod.js'
import { removeFolder } from '../../../support/remove-folder.js'

const POD = 'pod-1'

export interface PodFixture {
  readonly pods: LocalPods
  readonly pod: string
  /** Files of this machine. */
  readonly folder: string
  /** Where the pod's files are. */
  readonly home: string
  /** Another node is as good as another service: it knows nothing of the first one. */
  node(parts?: Partial<PodNodeParts>): PodNode
  close(): Promise<void>
}

export async function startPod(
  options: { shell?: string; cutOf?: (exec: number) => Cut | undefined } = {}
): Promise<PodFixture> {
  const root = mkdtempSync(join(tmpdir(), 'pods-'))
  const folder = join(root, 'here')
  mkdirSync(folder)
  const pods = await startLocalPods(root, [POD], options)
  return {
    pods,
    pod: POD,
    folder,
    home: pods.homeOf(POD),
    node: (parts = {}) =>
      createPodNode({
        ...{ cluster: pods.cluster, pod: POD, nodeName: 'machine-1', image: 'local', memoryBytes: undefined },
        ...{ lost: new AbortController().signal, whyLost: () => Promise.resolve(undefined) },
        ...{ found: new Map(), clock: systemClock, log: () => undefined, home: pods.homeOf(POD) },
        timings: { ...POD_TIMINGS, firstRetryMs: 1, lastRetryMs: 5, lastBytesMs: 60_000 },
        ...parts
      }),
    close: async () => {
      await pods.close()
      removeFolder(root)
    }
  }
}

/** A command of sh. Its samples are the first argument, on the node. */
export function shellCommand(
  node: PodNode,
  fixture: PodFixture,
  script: string,
  options: Partial<NodeCommand> = {}
): NodeCommand {
  const samples = join(fixture.folder, 'samples.csv')
  return {
    id: 'work-1',
    file: '/bin/sh',
    args: ['-c', script, 'sh', node.pathOf(samples)],
    cwd: node.pathOf(fixture.folder),
    env: node.env,
    onLine: () => undefined,
    brings: [],
    follows: [samples],
    collects: [],
    ...options
  }
}
