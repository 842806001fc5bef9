import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { stringify } from 'yaml'
import { makeCertificate } from '../certificate.js'
import { KubeApi, type KubeObject } from './api.js'
import { CHART, findHelm } from './helm.js'
import { type ClusterFolders, findClusterFolders } from './cluster-folders.js'
import { type Endpoint, PodNetwork } from './pod-network.js'
import { importServiceImage } from './service-image.js'
import { commandsOf, readServiceManifest, renameNamespaces, SERVICE_MANIFEST } from './service-manifest.js'
import { removeFolder } from '../remove-folder.js'

const JMETER_IMAGE = 'localhost/loadgate/jmeter:5.6.3'
const GONE_WITHIN_MS = 60_000

interface ServicePod {
  readonly metadata: { readonly name: string; readonly uid: string }
  readonly status: { readonly containerStatuses?: readonly object[] }
}

/**
 * The example's manifest on a cluster of scripts/cluster/up, deployed as its head says. What is changed in it: the names of its
 * namespaces, the address, as anybody has to, and the size of a node, for a machine of two cores. What the cluster lacks is added
 * around it: images under the names that a registry has them by, a volume, and a network with this machine on it.
 */
export class DeployedService {
  readonly folder = mkdtempSync(join(tmpdir(), 'loadgate-deployed-'))
  readonly namespaces: { readonly service: string; readonly grids: string }
  readonly api: KubeApi
  readonly #cluster: ClusterFolders
  readonly #kubeconfig: string
  readonly #volume: string
  network!: PodNetwork
  url = ''

  constructor(kubeconfig: string) {
    const cluster = findClusterFolders(kubeconfig)
    if (cluster === undefined) throw new Error(`${kubeconfig} is not of a cluster of scripts/cluster/up`)
    this.#cluster = cluster
    this.#kubeconfig = kubeconfig
    this.api = new KubeApi(kubeconfig)
    const suffix = randomBytes(4).toString('hex')
    this.namespaces = { service: `loadgate-${suffix}`, grids: `load-${suffix}` }
    this.#volume = `loadgate-${suffix}`
  }

  /** Everything that a cluster and its owner have before the first command of the head. */
  async prepare(): Promise<void> {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
    importServiceImage(`ghcr.io/loadgate/loadgate-service:${version}`, this.#cluster)
    this.#cluster.ctr('images', 'tag', '--force', JMETER_IMAGE, `ghcr.io/loadgate/loadgate-node:${version}`)
    const { certificate, key } = makeCertificate(this.folder, 'tls')
    renameSync(certificate, join(this.folder, 'tls.crt'))
    renameSync(key, join(this.folder, 'tls.key'))
    this.network = await PodNetwork.open(this.#cluster, this.api)
    const port = await this.network.forward({ host: '127.0.0.1', port: 0 }, () => this.#findEndpoint())
    this.url = `https://localhost:${port}`
    await this.#provideVolume()
    writeFileSync(join(this.folder, 'kubernetes.yaml'), this.#manifest())
  }

  /** Runs the commands of the head, one after the other. Resolves with what each of them said. */
  async deploy(): Promise<string[]> {
    const text = renameNamespaces(readFileSync(SERVICE_MANIFEST, 'utf8'), this.namespaces)
    const said: string[] = []
    for (const command of commandsOf(text)) said.push(await this.#run('bash', ['-c', command]))
    return said
  }

  /** Runs the commands of the chart's README instead. */
  async deployChart(): Promise<string[]> {
    cpSync(CHART, join(this.folder, 'helm'), { recursive: true })
    const [, commands = ''] = /```sh\n(.*?)```/s.exec(readFileSync(join(CHART, 'README.md'), 'utf8')) ?? []
    const said: string[] = []
    for (const command of commands.trim().split('\n')) {
      const renamed = command
        .replace(/(-n|namespace) loadgate\b/g, `$1 ${this.namespaces.service}`)
        .replace('externalUrl=https://load.example.com', this.chartValues().join(' '))
      said.push(await this.#run('bash', ['-c', renamed]))
    }
    return said
  }

  /** For a machine of two cores, as the manifest is changed. */
  chartValues(): string[] {
    const kubernetes = 'config.regions.cluster.kubernetes'
    return [
      ...[`externalUrl=${this.url}`, '--set', `${kubernetes}.namespace=${this.namespaces.grids}`],
      ...['--set', `${kubernetes}.instance-types.small.cpu=400m`],
      ...['--set', `${kubernetes}.instance-types.small.memory=1Gi`]
    ]
  }

  helm(...args: string[]): Promise<string> {
    return this.#run('helm', args)
  }

  kubectl(...args: string[]): Promise<string> {
    return this.#run('kubectl', ['-n', this.namespaces.service, ...args])
  }

  async pods(): Promise<ServicePod[]> {
    const path = `/api/v1/namespaces/${this.namespaces.service}/pods`
    return (await this.api.list(path)) as unknown as ServicePod[]
  }

  /** The one pod that there is, or is about to be. */
  async pod(): Promise<ServicePod> {
    const [pod, ...more] = await this.pods()
    if (pod === undefined || more.length > 0)
      throw new Error(`${pod ? more.length + 1 : 0} pods instead of one`)
    return pod
  }

  /** A request by way of the Service. */
  get(path: string, token?: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const basic = token !== undefined && {
      authorization: `Basic ${Buffer.from(`${token}:`).toString('base64')}`
    }
    const options = {
      agent: false,
      ca: readFileSync(join(this.folder, 'tls.crt')),
      headers: { ...basic, ...headers }
    }
    return new Promise((resolve, reject) => {
      get(`${this.url}${path}`, options, (incoming) => {
        let text = ''
        incoming.on('data', (chunk: Buffer) => (text += chunk.toString()))
        incoming.on('error', reject)
        incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, text }))
      }).on('error', reject)
    })
  }

  /** How often the audit log says it. */
  audited(action: string): number {
    const text = readFileSync(join(this.folder, 'volume/audit.jsonl'), 'utf8')
    return text.split('\n').filter((line) => line.includes(`"${action}"`)).length
  }

  /** Jobs that are there now, and pods that are still there when they had time to go. */
  async gridsLeft(): Promise<string[]> {
    const { grids } = this.namespaces
    const jobs = await this.api.list(`/apis/batch/v1/namespaces/${grids}/jobs`)
    const listPods = (): Promise<KubeObject[]> => this.api.list(`/api/v1/namespaces/${grids}/pods`)
    const deadlineMs = Date.now() + GONE_WITHIN_MS
    let pods = await listPods()
    while (pods.length > 0 && Date.now() < deadlineMs) {
      await sleep(200)
      pods = await listPods()
    }
    return [...jobs, ...pods].map(({ metadata }) => metadata.name)
  }

  async remove(): Promise<void> {
    for (const name of Object.values(this.namespaces))
      await this.api.request('DELETE', `/api/v1/namespaces/${name}`).catch(() => undefined)
    await this.kubectl('delete', 'pods', '--all', '--force', '--grace-period=0').catch(() => undefined)
    // Its folder is mounted until the last container is gone.
    const deadlineMs = Date.now() + GONE_WITHIN_MS
    while ((await this.#mounts()) && Date.now() < deadlineMs) await sleep(200)
    await this.api.request('DELETE', `/api/v1/persistentvolumes/${this.#volume}`).catch(() => undefined)
    // Nothing was prepared if an image could not be made.
    ;(this.network as PodNetwork | undefined)?.close()
    removeFolder(this.folder)
  }

  #manifest(): string {
    const documents = readServiceManifest((text) =>
      renameNamespaces(text, this.namespaces)
        .replace('external-url: https://load.example.com', `external-url: ${this.url}`)
        .replace("small: { cpu: '1', memory: 2Gi }", "small: { cpu: '400m', memory: 1Gi }")
    )
    return documents.map((document) => stringify(document)).join('---\n')
  }

  /** As a provisioner would: empty but for what a new file system has, and root's. The kubelet gives it to the pod's group. */
  async #provideVolume(): Promise<void> {
    const path = join(this.folder, 'volume')
    mkdirSync(join(path, 'lost+found'), { recursive: true, mode: 0o700 })
    const values = ['localhost']
    await this.api.request('POST', '/api/v1/persistentvolumes', {
      metadata: { name: this.#volume },
      spec: {
        capacity: { storage: '50Gi' },
        accessModes: ['ReadWriteOnce'],
        persistentVolumeReclaimPolicy: 'Retain',
        claimRef: { namespace: this.namespaces.service, name: 'loadgate' },
        local: { path },
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [
              { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values }] }
            ]
          }
        }
      }
    })
  }

  /** As kube-proxy chooses: what is ready, else what is about to end and still answers. */
  async #findEndpoint(): Promise<Endpoint | undefined> {
    const path = `/apis/discovery.k8s.io/v1/namespaces/${this.namespaces.service}/endpointslices`
    const slices = (await this.api.list(
      `${path}?labelSelector=kubernetes.io/service-name=loadgate`
    )) as unknown as Slice[]
    const all = slices.flatMap(({ endpoints, ports }) =>
      (endpoints ?? []).map(({ addresses: [host], conditions }) => ({
        host,
        port: ports?.[0]?.port,
        conditions
      }))
    )
    const chosen =
      all.find(({ conditions }) => conditions.ready) ??
      all.find(({ conditions }) => conditions.serving && conditions.terminating)
    return chosen?.host !== undefined && chosen.port !== undefined
      ? { host: chosen.host, port: chosen.port }
      : undefined
  }

  async #mounts(): Promise<boolean> {
    return (await promisify(execFile)('cat', ['/proc/self/mountinfo'])).stdout.includes(this.folder)
  }

  async #run(command: string, args: readonly string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(command, args, {
      cwd: this.folder,
      env: {
        ...process.env,
        PATH: [join(this.#cluster.cache, 'bin'), dirname(findHelm() ?? ''), process.env.PATH].join(':'),
        KUBECONFIG: this.#kubeconfig
      }
    })
    return stdout
  }
}

interface Answer {
  readonly status: number
  readonly text: string
}

interface Slice {
  readonly endpoints?: readonly {
    readonly addresses: readonly [string]
    readonly conditions: {
      readonly ready?: boolean
      readonly serving?: boolean
      readonly terminating?: boolean
    }
  }[]
  readonly ports?: readonly { readonly port: number }[]
}
