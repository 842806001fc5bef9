import { quote } from './shell-words.js'

/** Where it is typed: within a cluster there is no kubeconfig. */
interface Address {
  readonly kubeconfig: string | undefined
  readonly context: string
  readonly namespace: string
}

/** What a person types to delete the Jobs with these labels, who has access to the cluster when this process has none. */
export function kubectlDelete({ kubeconfig, context, namespace }: Address, selector: string): string {
  const where = kubeconfig === undefined ? [] : ['--context', word(context)]
  return ['kubectl delete job', '-n', word(namespace), ...where, '-l', word(selector)].join(' ')
}

/** Names of contexts may contain anything; what needs no quotes is easier to read without. */
function word(text: string): string {
  return /^[\w.:/@=,-]+$/.test(text) ? text : quote(text)
}
