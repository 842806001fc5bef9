{{- define "loadgate.selector" -}}
app.kubernetes.io/name: loadgate
app.kubernetes.io/component: service
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "loadgate.labels" -}}
{{ include "loadgate.selector" . }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | quote }}
{{- end }}

{{- /* The name of every object. Kubernetes adds 11 characters to that of a StatefulSet for a label, and a Service begins with a letter. */ -}}
{{- define "loadgate.name" -}}
{{- if not (regexMatch "^[a-z]([a-z0-9-]{0,50}[a-z0-9])?$" .Release.Name) -}}
{{- fail (printf "%s is no name for the release: its objects have it, so it must be at most 52 lowercase letters, digits and -, beginning with a letter" .Release.Name) -}}
{{- end -}}
{{- .Release.Name -}}
{{- end }}

{{- define "loadgate.config" -}}
{{- $own := dict "listen" "0.0.0.0:8443" "data" "/var/lib/loadgate" -}}
{{- $_ := set $own "external-url" (required "externalUrl is missing: the address that gates name in base-url, such as https://load.example.com" .Values.externalUrl) -}}
{{- $_ := set $own "tls" (dict "certificate" "tls.crt" "key" "tls.key") -}}
{{- if .Values.metrics.secret }}{{ $_ := set $own "metrics" (dict "token-file" "metrics.token") }}{{ end -}}
{{- merge $own .Values.config | toYaml -}}
{{- end }}

{{- /* The namespaces of the regions, as a list in JSON: the service needs its rights in each of them. */ -}}
{{- define "loadgate.gridNamespaces" -}}
{{- $namespaces := list -}}
{{- range $region, $place := .Values.config.regions -}}
{{- if hasKey $place "kubernetes" -}}
{{- $key := printf "config.regions.%s.kubernetes" $region -}}
{{- if $place.kubernetes.context }}{{ fail (printf "%s.context: the chart has no kubeconfig; leave it out, and the grids are on the cluster of the service" $key) }}{{ end -}}
{{- $namespace := required (printf "%s.namespace is missing: where the pods of its grids run" $key) $place.kubernetes.namespace -}}
{{- if eq $namespace $.Release.Namespace }}{{ fail (printf "%s.namespace is that of the service: plans would run beside it, and could be given its secrets; name another one" $key) }}{{ end -}}
{{- $namespaces = append $namespaces $namespace -}}
{{- end -}}
{{- end -}}
{{- $namespaces | uniq | toJson -}}
{{- end }}

{{- /* As long as `drain`, in the service's own notation, and two minutes more: stopping the tools in pods and reading their results. */ -}}
{{- define "loadgate.graceSeconds" -}}
{{- $drain := .Values.config.drain | default "10m" | toJson | trimAll "\"" -}}
{{- $seconds := 120 -}}
{{- range $unit, $each := dict "h" 3600 "m" 60 "s" 1 "$" 1 -}}
{{- $seconds = add $seconds (mul $each (regexFind (print "[1-9][0-9]*" $unit) $drain | trimSuffix $unit | default "0" | int64)) -}}
{{- end -}}
{{- $seconds -}}
{{- end }}
