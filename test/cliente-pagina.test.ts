/**
 * The page and the README of the client taken at their word: what is shown as JavaScript runs, in its order and as it stands, against
 * the service; what is shown with types is what the compiler sees below.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type {
  Codigo,
  CodigoDeErro,
  CorpoDaDps,
  EnvelopeDeErro,
  Evento,
  ItemDeCatalogo,
  OpcoesDoCliente,
  PedidoDeEvento,
} from '../packages/cliente/src/index.ts';
import { RULES } from '../src/fiscal/rules/rules.ts';
import { freshFolder } from './support/openssl.ts';
import { startTestService } from './support/service.ts';

const ROOT = path.resolve(import.meta.dirname, '..');

test('the page runs from its first block to its last', async (t) => {
  const { address } = await startTestService();
  const page = await readFile(path.join(ROOT, 'docs/site/cliente.md'), 'utf8');
  const blocks = [...page.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, block]) => block!);
  assert.ok(blocks.length >= 5);
  const folder = freshFolder();
  const program = path.join(folder, 'pagina.mjs');
  await symlink(path.join(ROOT, 'packages/cliente'), path.join(folder, 'cliente'));
  const source = blocks
    .join('\n')
    .replaceAll('{{site}}', address)
    .replaceAll("'@emissor-nfse/cliente'", "'./cliente/src/index.ts'");
  await writeFile(program, source);
  const said: string[] = [];
  t.mock.method(console, 'log', (...words: unknown[]) => void said.push(words.join(' ')));
  await import(pathToFileURL(program).href);
  assert.equal(said.shift(), 'ISSQN 20.00; líquido 1000.00');
  assert.match(said.shift()!, /^\d{50} nova$/);
  for (const one of ['autorizada 20.00', 'processado cancelado_ok', '1', 'false', 'true']) {
    assert.ok(said.includes(one), `${one} is not in ${said.join(' | ')}`);
  }
  assert.ok(said.some((one) => /^[A-Z]{2} .*Ilhas/.test(one)));
});

test('the types know every code that is answered', async () => {
  const types = await readFile(path.join(ROOT, 'packages/cliente/src/tipos.ts'), 'utf8');
  const [, union] = /export type CodigoDeErro =([^;]+);/.exec(types)!;
  const known = new Set([...union!.matchAll(/'(E\d+)'/g)].map(([, code]) => code!));
  // As the service answered them when the examples were recorded.
  const recorded = await readFile(path.join(ROOT, 'src/doors/rest/exemplos.json'), 'utf8');
  const answered = [...recorded.matchAll(/"codigo_erro":"(E\d+)"/g)].map(([, codigo]) => codigo!);
  const judging = RULES.filter(({ scope }) => scope !== 'aviso').map(({ code }) => code);
  assert.ok(answered.length > 10 && judging.length > 100);
  assert.deepEqual(
    [...answered, ...judging].filter((codigo) => !known.has(codigo)),
    [],
  );
});

test('the package that is published runs below node_modules, with its types', async (t) => {
  if (process.env.NFSE_TEST_LONGO !== '1') return t.skip('test:longo');
  const folder = freshFolder();
  const place = path.join(folder, 'node_modules/@emissor-nfse/cliente');
  execFileSync(process.execPath, [path.join(ROOT, 'packages/cliente/pacote.ts'), place]);
  const program = path.join(folder, 'a.mjs');
  await writeFile(program, "export { createCliente } from '@emissor-nfse/cliente';");
  const { createCliente } = await import(pathToFileURL(program).href);
  assert.equal(typeof createCliente({ url: 'http://x', municipio: 'a' }).emitirNota, 'function');
  assert.match(await readFile(path.join(place, 'src/cliente.d.ts'), 'utf8'), /export declare function createCliente/);
});

// What the compiler has to say; nothing of it runs.

export const pedido = {
  tipo_evento: 'rejeicao_tomador',
  codigo_motivo_rejeicao: '3',
} satisfies PedidoDeEvento;

// @ts-expect-error: a reason that the type does not have
export const reason: PedidoDeEvento = { tipo_evento: 'rejeicao_tomador', codigo_motivo_rejeicao: '8' };

// @ts-expect-error: a type that is registered by office alone
export const byOffice: PedidoDeEvento = { tipo_evento: 'bloqueio_por_oficio' };

// @ts-expect-error: what a cancellation must have
export const bare: PedidoDeEvento = { tipo_evento: 'cancelamento' };

// @ts-expect-error: a name that the body does not have
export const named: Partial<CorpoDaDps> = { valor_servicos: '1.00' };

// @ts-expect-error: an amount is a text or a number
export const amount: Partial<CorpoDaDps> = { valor_servico: true };

// @ts-expect-error: no such code
export const code: CodigoDeErro = 'E9999';

/** A newer service may answer it. */
export const newer: Codigo = 'E9999';

export function told({ codigo_erro, erros }: EnvelopeDeErro): string {
  const campos: readonly (string | undefined)[] = erros.map(({ campo }) => campo);
  return codigo_erro === 'E0014' ? 'again' : campos.join();
}

export function stateOf({ status_evento }: Evento): 'open' | 'closed' {
  // @ts-expect-error: no such state
  if (status_evento === 'concluido') return 'closed';
  return status_evento === 'processado' ? 'closed' : 'open';
}

// @ts-expect-error: what is answered is for reading
export const rewrite = (evento: Evento): string => (evento.tipo_evento = 'cancelamento');

export const currency = ({ sigla }: ItemDeCatalogo<'moedas'>): string => sigla;

// @ts-expect-error: a certificate without its key
export const keyless: OpcoesDoCliente = { url: '', municipio: '', certificado: { certificado: '' } };
