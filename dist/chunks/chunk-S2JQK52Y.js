import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
function kubectlDelete({kubeconfig,context,namespace},selector){let where=kubeconfig===void 0?[]:["--context",quote(context)];return["kubectl delete job","-n",quote(namespace),...where,"-l",quote(selector)].join(" ")}function quote(text){return/^[\w.:/@=,-]+$/.test(text)?text:`'${text.replaceAll("'",String.raw`'\''`)}'`}export{kubectlDelete};
