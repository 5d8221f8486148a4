/** Why a listener for operators did not open, and the remedy. `variable`: the setting of its port. */
export function describeListening(
  { code, message }: NodeJS.ErrnoException,
  { host, port }: { readonly host: string; readonly port: number },
  variable: 'NFSE_PAINEL_PORTA' | 'NFSE_VIGIA_PORTA' | 'NFSE_TRANSMITIR_PORTA',
): string {
  if (code === 'EADDRINUSE') return `a porta ${port} já está em uso. Escolha outra com ${variable}`;
  if (code === 'EADDRNOTAVAIL') return `o endereço ${host} não é desta máquina. Confira NFSE_PAINEL_HOST`;
  if (code === 'EACCES') return `falta permissão para a porta ${port}. Escolha outra com ${variable}`;
  return message;
}
