/**
 * The process whose addresses are measured: the door with the data of the examples of the description. It tells its
 * parent a request to each address that is asked by GET.
 */
import { Client, Pool } from '../src/base/pg/pg.ts';
import { GUARDED_DOOR } from '../src/doors/rest/described-door.ts';
import { SITE_PATHS } from '../src/doors/rest/site-routes.ts';
import { SANDBOX_SLUG } from '../src/fiscal/ambiente.ts';
import { ARQUIVOS_PATH, REFERENCE_PATH } from '../src/published/paths.ts';
import { listAddresses } from '../src/published/security.ts';
import { SOAP_PATH } from '../src/subjects/lotes/nfes.soap.ts';

/** A request to an address; undefined `path`: there is no example that answers 200. */
export type Asked = {
  readonly endereco: string;
  readonly path: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
};
export type Served = { readonly address: string; readonly asked: readonly Asked[] };

/** Operations after which the other examples are gone. */
const TAKE_AWAY = ['revogarToken', 'retirarWebhook', 'reiniciarAmbiente', 'descartarAmbiente'];

// The tests record each statement with the place of its code, which takes more time than the statement.
const queries = [Client, Pool].map(({ prototype }) => [prototype, prototype.query] as const);
const { exampleService, locate, PASSOS, runPassos } = await import('../test/support/exemplos.ts');
for (const [prototype, query] of queries) prototype.query = query;
const { closeAll } = await import('../test/support/cleanup.ts');
process.once('SIGTERM', () => void closeAll().finally(() => process.exit()));

const { address } = await exampleService();
const made = await runPassos(
  address,
  PASSOS.filter(({ id }) => !TAKE_AWAY.includes(id)),
);
const requests = new Map(
  made.flatMap(({ exemplo: { id, status, pedido } }) => {
    const { method, path } = locate(id, pedido);
    return method === 'GET' && status === 200 ? [[id, { path, headers: pedido.cabecalhos ?? {} }] as const] : [];
  }),
);
const { chave_acesso: chave } = made.find(({ exemplo }) => exemplo.id === 'emitirNota')!.exemplo.resposta as Readonly<
  Record<'chave_acesso', string>
>;
/** The parts of the paths of pages. */
const PARTS: Readonly<Record<string, string>> = {
  ...{ municipio: SANDBOX_SLUG, pagina: 'primeira-nota', codigo: 'E0014', chave },
  [`${ARQUIVOS_PATH}/arquivo`]: 'nfse-1.01.xsd',
  [`${REFERENCE_PATH}/arquivo`]: 'swagger-ui-bundle.js',
};

const asked: Asked[] = [];
for (const { id, endereco } of listAddresses(GUARDED_DOOR, SITE_PATHS)) {
  const [method, pattern] = endereco.split(' ') as [string, string];
  if (method !== 'GET') continue;
  const { path, headers } = requests.get(id) ?? { path: fillIn(pattern), headers: {} };
  const { status } = await fetch(`${address}${path}`, { headers, redirect: 'manual' });
  asked.push({ endereco: pattern, headers, path: status === 200 ? path : undefined });
}
process.send!({ address, asked } satisfies Served);

function fillIn(pattern: string): string {
  const path = pattern.replace(/\{(\w+)\}/g, (whole, name: string, at: number) => {
    return PARTS[name] ?? PARTS[`${pattern.slice(0, at)}${name}`] ?? whole;
  });
  return pattern.endsWith(SOAP_PATH) ? `${path}?wsdl` : path;
}
