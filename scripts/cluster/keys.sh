# Certificates of the cluster, and a kubeconfig for each of its users.
# shellcheck shell=bash disable=SC2154

# certificate <file> <subject> [subject alternative names]
certificate() {
  local request=(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "$2" -keyout "$pki/$1.key")
  openssl req -new "${request[@]}" -out "$pki/$1.csr" 2>/dev/null
  openssl x509 -req -in "$pki/$1.csr" -CA "$pki/ca.crt" -CAkey "$pki/ca.key" -CAcreateserial -days 3650 -out "$pki/$1.crt" \
    -extfile <(printf 'extendedKeyUsage=serverAuth,clientAuth\n%s\n' "${3:+subjectAltName=$3}") 2>/dev/null
}

make_keys() {
  [ -s "$pki/done" ] && return
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj /CN=loadgate-k8s \
    -keyout "$pki/ca.key" -out "$pki/ca.crt" 2>/dev/null
  certificate apiserver /CN=kube-apiserver "DNS:localhost,DNS:kubernetes,DNS:kubernetes.default.svc,IP:127.0.0.1,IP:$service_range.1"
  certificate kubelet-server "/CN=$node" "DNS:$node,IP:127.0.0.1"
  certificate apiserver-kubelet /O=system:masters/CN=kube-apiserver-kubelet-client
  certificate admin /O=system:masters/CN=admin
  certificate controller-manager /CN=system:kube-controller-manager
  certificate scheduler /CN=system:kube-scheduler
  certificate kubelet "/O=system:nodes/CN=system:node:$node"
  openssl genrsa -out "$pki/sa.key" 2048 2>/dev/null
  openssl rsa -in "$pki/sa.key" -pubout -out "$pki/sa.pub" 2>/dev/null
  date >"$pki/done"
}

make_kubeconfigs() {
  local who
  for who in admin controller-manager scheduler kubelet; do
    (
      umask 077
      cat >"$data/$who.kubeconfig" <<YAML
apiVersion: v1
kind: Config
clusters: [{name: loadgate, cluster: {server: "https://127.0.0.1:$api_port", certificate-authority-data: $(base64 -w0 "$pki/ca.crt")}}]
users: [{name: $who, user: {client-certificate-data: $(base64 -w0 "$pki/$who.crt"), client-key-data: $(base64 -w0 "$pki/$who.key")}}]
contexts: [{name: loadgate, context: {cluster: loadgate, user: $who}}]
current-context: loadgate
YAML
    )
  done
}
