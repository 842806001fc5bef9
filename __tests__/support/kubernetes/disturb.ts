import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { KubeApi } from './api.js'

/** What can happen to a cluster: of scripts/cluster/up, or of kind, whose machines are containers. */
export interface Disturbances {
  /** The API server is killed, and comes back after some seconds. */
  killApiServer(): void
  /** The machine's agent stops for everyone to see as silence; the pods go on. */
  freezeKubelet(): void
  thawKubelet(): void
}

export function disturbancesOf(kubeconfig: string, { context }: KubeApi): Disturbances {
  return context.startsWith('kind-') ? ofKind(context.slice('kind-'.length)) : ofScripts(dirname(kubeconfig))
}

function ofScripts(data: string): Disturbances {
  const [, number = '0'] = /-k8s-(\d+)$/.exec(basename(data)) ?? []
  const kubelet = (): number => Number(readFileSync(join(data, 'pids/kubelet'), 'utf8').split(' ')[0])
  return {
    killApiServer: () =>
      void execFileSync(resolve('scripts/cluster/restart'), ['kube-apiserver', 'KILL', '3'], {
        env: { ...process.env, K8S_DATA: data, K8S_CLUSTER: number },
        stdio: 'pipe'
      }),
    freezeKubelet: () => void process.kill(kubelet(), 'SIGSTOP'),
    thawKubelet: () => void process.kill(kubelet(), 'SIGCONT')
  }
}

function ofKind(name: string): Disturbances {
  const inMachine = (...command: string[]): void =>
    void execFileSync('docker', ['exec', `${name}-control-plane`, ...command], { stdio: 'pipe' })
  return {
    killApiServer: () => inMachine('pkill', '-KILL', 'kube-apiserver'),
    freezeKubelet: () => inMachine('systemctl', 'kill', '--signal=STOP', 'kubelet'),
    thawKubelet: () => inMachine('systemctl', 'kill', '--signal=CONT', 'kubelet')
  }
}
