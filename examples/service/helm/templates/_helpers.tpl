{{- define "loadgate.selector" -}}
app.kubernetes.io/name: loadgate
app.kubernetes.io/component: service
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "loadgate.labels" -}}
{{ include "loadgate.selector" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "loadgate.config" -}}
{{- $own := dict "listen" "0.0.0.0:8443" "data" "/var/lib/loadgate" -}}
{{- $_ := set $own "external-url" (required "externalUrl is missing: the address that gates name in base-url, such as https://load.example.com" .Values.externalUrl) -}}
{{- $_ := set $own "tls" (dict "certificate" "tls.crt" "key" "tls.key") -}}
{{- if .Values.metrics.secret }}{{ $_ := set $own "metrics" (dict "token-file" "metrics.token") }}{{ end -}}
{{- merge $own .Values.config | toYaml -}}
{{- end }}
