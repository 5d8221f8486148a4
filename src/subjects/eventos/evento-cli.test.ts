/**
 * Events from a terminal: the municipality registers, reads and moves them by hand, and an integrator sends them. A running service shares
 * the database. `evento-cli.maquina.test.ts` runs the chapter of the events page.
 */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { nfseHere } from '../../../test/support/cli.ts';
import { wordsOf } from '../../../test/support/console.ts';
import { databaseUrlOf, freshDatabase } from '../../../test/support/database.ts';
import { putEvento } from '../../../test/support/eventos.ts';
import { authorised, emit, request } from '../../../test/support/http.ts';
import { NO_SUCH_KEY } from '../../../test/support/notas.ts';
import { nfse, ROOT, type Said } from '../../../test/support/process.ts';
import { startTestService, type TestService } from '../../../test/support/service.ts';
import { until } from '../../../test/support/until.ts';
import { xsdErrors } from '../../documents/xml.ts';
import { EVENTO_ESTADOS, type EventoEstado, eventoRests } from '../../fiscal/evento.ts';
import { HOUR_MS, MINUTE_MS } from '../../fiscal/moment.ts';
import { exemploDe, TIPOS_EVENTO, tipoBySlug } from '../../fiscal/tipos-evento.ts';
import type { EventoPublico } from './queries.ts';

const AGENTE = '52998224725';
/** An invented CNPJ, of the municipality's certificate in the private PKI. */
const MUNICIPIO_CNPJ = '99999999000191';
const EXAMPLE = await readFile(path.join(ROOT, 'examples/dps.xml'));
const EVENTO_XSD = await readFile(path.join(ROOT, 'docs/evento-1.01.xsd'), 'utf8');

/** One clock for the commands and the service. */
const PRESENT = {
  get now(): number {
    return Date.now();
  },
};

const told = ({ code, out, err }: Said): string => `ended with ${code}\n${out}${err}`;

/** The value of a named row in the text of an event. */
function row(text: string, name: string): string | undefined {
  return new RegExp(`^ {2}${name} +(.*)$`, 'm').exec(text)?.[1];
}

function campo(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).flatMap(([nome, valor]) => ['--campo', `${nome}=${valor}`]);
}

describe('beside a service of the sandbox', () => {
  let service: TestService;
  let env: NodeJS.ProcessEnv;
  let pool: TestService['pool'];

  before(async () => {
    const connection = await freshDatabase();
    env = { DATABASE_URL: databaseUrlOf(connection) };
    service = await startTestService({ connection, clock: PRESENT });
    pool = service.pool;
  });

  const here = (...args: readonly string[]): Promise<Said> => nfseHere(['evento', ...args], pool);

  async function done(...args: readonly string[]): Promise<string> {
    const said = await here(...args);
    assert.equal(said.code, 0, told(said));
    return said.out;
  }

  async function refused(args: readonly string[], ...says: readonly RegExp[]): Promise<string> {
    const said = await here(...args);
    assert.equal(said.code, 1, told(said));
    for (const one of says) assert.match(said.err, one, args.join(' '));
    return said.err;
  }

  async function wrongly(args: readonly string[], says: RegExp): Promise<void> {
    const said = await here(...args);
    assert.deepEqual([said.code, said.out], [2, ''], told(said));
    assert.match(said.err, says, args.join(' '));
  }

  async function nota(): Promise<string> {
    const { body } = await emit(service.address, EXAMPLE);
    await authorised(service.address, body.chave_acesso);
    return body.chave_acesso;
  }

  const send = (chave: string, tipo: string, ...more: readonly string[]): Promise<string> =>
    done('enviar', chave, '--url', service.address, '--tipo', tipo, ...more);

  /** Registers an event by office, and waits until it is processed. */
  async function register(chave: string, tipo: string, more: Readonly<Record<string, string>> = {}): Promise<string> {
    const { tipo_evento: _, ...campos } = { ...exemploDe(tipoBySlug(tipo)!), ...more };
    const asked = ['--municipio', 'integracao', '--cnpj', MUNICIPIO_CNPJ, '--tipo', tipo, ...campo(campos)];
    const id = row(await done('registrar', chave, ...asked), 'id_evento')!;
    return until(async () => {
      const shown = await done('mostrar', id, '--municipio', 'integracao');
      const status = row(shown, 'status_evento')!;
      assert.ok(['processado', 'pendente', 'enviado'].includes(status), shown);
      return status === 'processado' ? shown : undefined;
    }, `the event ${id} is processed`);
  }

  const statusOf = async (chave: string): Promise<string> =>
    (await request(service.address, `/integracao/api/v1/nfse/${chave}`)).body.nota.status;

  test('the page on events: by office in the sandbox, line by line', async () => {
    const page = await readFile(path.join(ROOT, 'docs/site/eventos.md'), 'utf8');
    const blocks = [...page.matchAll(/^```console\n([\s\S]*?)^```$/gm)].map(([, block]) => block!);
    const chave = await nota();
    // The other blocks are for a municipality in production.
    const own = blocks.filter((block) => block.includes('{{integracao}}'));
    const text = own.join('').replaceAll('{{integracao}}', 'integracao').replaceAll('CHAVE', chave);
    const lines = text
      .replace(/\\\n\s*/g, ' ')
      .trim()
      .split('\n');
    assert.equal(lines.length, 5);
    let listed = '';
    for (const line of lines) {
      const words = await wordsOf(line);
      const args = words.slice(words.indexOf('evento') + 1);
      listed = await done(...args, ...(args[0] === 'enviar' ? ['--url', service.address] : []));
      if (args[0] !== 'registrar') continue;
      // The next line runs a moment later, as typed by a person.
      const id = row(listed, 'id_evento')!;
      const isProcessed = async (): Promise<boolean> =>
        row(await done('mostrar', id, '--municipio', 'integracao'), 'status_evento') === 'processado';
      await until(async () => (await isProcessed()) || undefined, 'the event is processed');
    }
    const rows = listed.split('\n').slice(1, -1);
    assert.deepEqual(
      rows.map((one) => one.split(/ +/).slice(1, 4)),
      ['desbloqueio_por_oficio', 'bloqueio_por_oficio', 'anulacao_rejeicao', 'rejeicao_tomador'].map((tipo) => [
        tipo,
        '1',
        'processado',
      ]),
    );
  });

  test('an integrator sends an event, follows it, and reads what became of it', async () => {
    const chave = await nota();
    const at = ['--url', service.address];
    const reject = ['--tipo', 'rejeicao_tomador', '--campo', 'codigo_motivo_rejeicao=3'];
    // An integrator has no database.
    const rejected = await nfseHere(['evento', 'enviar', chave, ...reject, ...at]);
    assert.equal(rejected.code, 0, told(rejected));
    assert.match(
      rejected.out,
      /^Evento registrado: rejeicao_tomador nº 1; falta a conclusão\n {2}situação {3}processado \(/,
    );
    assert.equal(row(rejected.out, 'acao_sugerida'), 'cancelado_ok');
    assert.equal(row(rejected.out, 'chave_acesso'), chave);

    const file = path.join(ROOT, 'examples/evento.json');
    const cancelled = await here('enviar', chave, '--corpo', file, ...at);
    assert.equal(cancelled.code, 0, told(cancelled));
    assert.match(cancelled.out, /\nA nota está cancelada\.\n$/);
    assert.equal(await statusOf(chave), 'cancelada');

    const query = row(cancelled.out, 'consulta')!;
    assert.equal((await (await fetch(query)).json()).evento.status_evento, 'processado');

    const late = await here('enviar', chave, '--tipo', 'confirmacao_prestador', ...at);
    assert.deepEqual([late.code, late.out], [1, ''], told(late));
    assert.match(late.err, /^Recusado \(HTTP 422, E302\):\n {2}E302 {2}\S/);
  });

  test('what the ADN refuses is told, with the exit code of a refusal', async () => {
    const chave = await nota();
    const asked = ['--tipo', 'confirmacao_tomador', '--simular', 'adn:rejeita=E1833', '--url', service.address];
    const said = await here('enviar', chave, ...asked);
    assert.equal(said.code, 1, told(said));
    assert.equal(row(said.out, 'status_evento'), 'rejeitado');
    assert.equal(row(said.out, 'codigo_retorno'), 'E1833');
    assert.match(row(said.out, 'erros_adn')!, /"E1833"/);
    assert.match(said.err, /^O ADN recusou o evento: \S/);
    // The national environment does not take this type from a municipality; it is valid here all the same (D-55).
    const kept = await send(chave, 'confirmacao_tomador', '--simular', 'adn:rejeita=E1818');
    assert.equal(row(kept, 'status_evento'), 'dispensado');
    assert.match(kept, /o evento vale neste\.\n$/);
    await refused(['enviar', chave, '--tipo', 'rejeicao_prestador', '--url', service.address], /HTTP 400, E002/);
  });

  test('a slip in the options is told as it was typed, with what to type instead', async () => {
    const chave = await nota();
    const asked = ['enviar', chave, '--url', service.address];
    const slip = await refused([...asked, '--tipo', 'confirmacao_tomadr'], /correção: --tipo confirmacao_tomador$/m);
    assert.doesNotMatch(slip, /\d+:\d+ {2}E/);
    await refused(
      [...asked, '--tipo', 'rejeicao_tomador', '--campo', 'codigo_motivo=1'],
      /E0010 {2}codigo_motivo não é um campo de rejeicao_tomador/,
      /correção: --campo codigo_motivo_rejeicao=1$/m,
    );
    await refused([...asked, '--tipo', 'bloqueio_por_oficio'], /HTTP 401, E9016/);
    // Another program may listen at this address.
    const absent = ['enviar', chave.slice(1), ...asked.slice(2), '--tipo', 'confirmacao_tomador'];
    await refused(absent, /HTTP 404, E301/, new RegExp(`^Perguntado a ${service.address}/integracao; --url `, 'm'));
    const byPort = await nfseHere(['evento', ...absent.slice(0, 2), ...absent.slice(4)], pool, false, service.address);
    assert.match(byPort.err, new RegExp(`^Perguntado a ${service.address}/integracao;`, 'm'));
    await wrongly(asked, /^Falta --tipo NOME/);
    await wrongly([...asked, '--tipo', 'cancelamento', '--campo', 'motivo'], /motivo não tem a forma NOME=VALOR/);
    await wrongly(
      [...asked, '--tipo', 'cancelamento', ...campo({ a: '1' }), ...campo({ a: '2' })],
      /a veio mais de uma vez/,
    );
    await wrongly([...asked, '--tipo', 'cancelamento', '--campo', 'tipo_evento=x'], /vai em --tipo/);
    await wrongly([...asked, '--tipo', 'cancelamento', '--corpo', 'x.json'], /não os dois/);
    await wrongly([...asked, '--tipo', 'cancelamento', '--cms', 'x.cms'], /indique o arquivo em --corpo/);
    await wrongly([...asked, '--tipo', 'cancelamento', '--senha', 'x'], /--pfx ARQUIVO, ou --certificado/);
    await wrongly([...asked, '--corpo', path.join(ROOT, 'examples/dps.xml')], /não é JSON/);
    await wrongly(
      ['enviar', chave, '--tipo', 'cancelamento', '--url', 'localhost'],
      /--url localhost não é um endereço/,
    );
  });

  test('every type by office, with what goes before it on the note', async () => {
    const [deferida, indeferida, tacita, anulada, bloqueada, cancelada] = await Promise.all(
      Array.from({ length: 6 }, nota),
    );
    const analise = campo({
      codigo_motivo_cancelamento: '2',
      descricao_motivo_cancelamento: 'Serviço contratado que não chegou a ser prestado',
    });
    await send(deferida!, 'solicitacao_analise_fiscal_para_cancelamento', ...analise);
    await register(deferida!, 'cancelamento_deferido_por_analise_fiscal');
    assert.equal(await statusOf(deferida!), 'cancelada');

    await send(indeferida!, 'solicitacao_analise_fiscal_para_cancelamento', ...analise);
    await register(indeferida!, 'cancelamento_indeferido_por_analise_fiscal');
    assert.equal(await statusOf(indeferida!), 'autorizada');

    await register(tacita!, 'confirmacao_tacita');

    await send(anulada!, 'rejeicao_tomador', ...campo({ codigo_motivo_rejeicao: '3' }));
    const [rejeicao] = JSON.parse(await done('listar', anulada!, '--municipio', 'integracao', '--json'));
    const shown = await done('mostrar', String(rejeicao.id_evento), '--municipio', 'integracao');
    await register(anulada!, 'anulacao_rejeicao', { id_evento_rejeicao: row(shown, 'identificador')! });

    const block = await register(bloqueada!, 'bloqueio_por_oficio', { codigo_evento_bloqueado: 'e101101' });
    const cancel = ['--corpo', path.join(ROOT, 'examples/evento.json'), '--url', service.address];
    await refused(['enviar', bloqueada!, ...cancel], /HTTP 422, E0840/);
    await register(bloqueada!, 'desbloqueio_por_oficio', { id_evento_bloqueio: row(block, 'identificador')! });
    await done('enviar', bloqueada!, ...cancel);
    assert.equal(await statusOf(bloqueada!), 'cancelada');

    const last = await register(cancelada!, 'cancelamento_por_oficio');
    assert.equal(await statusOf(cancelada!), 'cancelada');
    assert.equal(row(last, 'autor'), MUNICIPIO_CNPJ);
    assert.equal(row(last, 'cpf_agente_tributario'), '***.982.247-**');
    assert.match(last, /\n {2}\S+ {2}pendente \(registro, por \S+\)\n {2}\S+ {2}pendente → enviado \(anuncio\)\n/);

    const { rows } = await pool.query('select distinct codigo_tipo_evento as codigo from eventos');
    const registered = new Set(rows.map(({ codigo }) => codigo));
    for (const { codigo, porOficio, slug } of TIPOS_EVENTO) if (porOficio) assert.ok(registered.has(codigo), slug);
  });

  test('the program registers by office and shows the document, which the schema accepts', async () => {
    const chave = await nota();
    const asked = ['evento', 'registrar', chave, '--municipio', 'integracao', '--cnpj', '99.999.999/0001-91'];
    const tipo = ['--tipo', 'cancelamento_por_oficio'];
    const { tipo_evento: _, ...campos } = exemploDe(tipoBySlug('cancelamento_por_oficio')!);
    const said = await nfse([...asked, ...tipo, ...campo(campos)], env);
    assert.equal(said.code, 0, told(said));
    assert.equal(row(said.out, 'status_evento'), 'pendente');
    const id = row(said.out, 'id_evento')!;
    const shown = await here('mostrar', id, '--municipio', 'integracao', '--xml');
    assert.equal(shown.code, 0, told(shown));
    const { documents } = unsigned(shown.out);
    assert.match(documents, /<CNPJAutor>99999999000191<\/CNPJAutor><chNFSe>\d{50}<\/chNFSe><e305101>/);
    const listed = await here('listar', chave, '--municipio', 'integracao');
    assert.match(listed.out, new RegExp(`^${id} +cancelamento_por_oficio +1 +`, 'm'));
  });

  test('what cannot be registered by office is told before anything is', async () => {
    const chave = await nota();
    const asked = ['registrar', chave, '--municipio', 'integracao'];
    const tacita = ['--tipo', 'confirmacao_tacita'];
    await refused([...asked, ...tacita], /^Nada foi registrado\. .*informe-o com --cnpj\.$/m);
    await refused([...asked, ...tacita, '--cnpj', '99999999000190'], /--cnpj não é um CNPJ: os dígitos/);
    await refused([...asked, ...tacita, '--cnpj', AGENTE], /--cnpj é um CPF, e o do município é um CNPJ/);
    const own = [...asked, '--cnpj', MUNICIPIO_CNPJ];
    await refused(
      [...own, '--tipo', 'cancelamento'],
      /cancelamento \(101101\) é registrado pelo prestador da nota, e não pela prefeitura/,
    );
    await refused([...own, '--tipo', 'bloqueio_por_ofcio'], /correção: --tipo bloqueio_por_oficio$/m);
    const missing = await refused([
      ...own,
      '--tipo',
      'bloqueio_por_oficio',
      '--campo',
      'codigo_evento_bloqueado=101101',
    ]);
    assert.deepEqual(
      [...missing.matchAll(/^ {2}(E\d+) {2}(?:Falta )?(\w+)/gm)].map(([, codigo, nome]) => `${codigo} ${nome}`),
      ['E002 cpf_agente_tributario', 'E0002 codigo_evento_bloqueado', 'E002 descricao_motivo'],
    );
    await refused(
      [
        ...own,
        '--tipo',
        'desbloqueio_por_oficio',
        ...campo({
          cpf_agente_tributario: AGENTE,
          id_evento_bloqueio: `EVT${chave}305102001`,
        }),
      ],
      /E1976/,
    );
    await refused(['registrar', chave.slice(1), ...own.slice(2), ...tacita], /50 posições; a que veio tem 49/);
    const other = NO_SUCH_KEY;
    await refused(['registrar', other, ...own.slice(2), ...tacita], /dígito verificador|Não há nota com esta chave/);
    await refused(['listar', other, '--municipio', 'integracao'], /dígito verificador|Não há nota com esta chave/);
    await refused(['listar', chave, '--municipio', 'nenhum'], /não existe o município nenhum/);
    assert.equal(await done('listar', chave, '--municipio', 'integracao'), 'A nota não tem eventos.\n');
    await wrongly(['listar', chave], /^Falta --municipio SLUG/);
    await wrongly([...own], /^Falta --tipo NOME/);
  });
});

/** The document, after the schema accepted it. */
function unsigned(xml: string): { readonly documents: string } {
  assert.deepEqual(xsdErrors(EVENTO_XSD, Buffer.from(xml)), []);
  return { documents: xml };
}

describe('what an operator may do', () => {
  let service: Awaited<ReturnType<typeof startTestService>>;

  before(async () => {
    // No worker transmits, so that every event stays in its state.
    service = await startTestService({ worker: false, clock: { now: Date.now() } });
  });

  const here = (...args: readonly string[]): Promise<Said> =>
    nfseHere([...args, '--municipio', 'integracao'], service.pool);

  type Put = { readonly estado: EventoEstado; readonly hasRetry?: boolean; readonly ageMs?: number };

  /** An event of a new note, as if it had reached a state some time ago. */
  async function put({ estado, hasRetry = true, ageMs = 0 }: Put, tipo = 'confirmacao_tomador'): Promise<string> {
    const { body: note } = await emit(service.address, EXAMPLE);
    const { tipo_evento: _, ...campos } = exemploDe(tipoBySlug(tipo)!);
    const { status, body } = await request(service.address, `/integracao/api/v1/nfse/${note.chave_acesso}/eventos`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ tipo_evento: tipo, ...campos }),
    });
    assert.equal(status, 201, JSON.stringify(body));
    const isDue = estado === 'erro' ? hasRetry : !eventoRests(estado, true);
    await putEvento(service.pool, 'integracao', body.id_evento, estado, isDue ? new Date() : null);
    await service.pool.query(
      'update eventos set desde = $2, aguardando_desde = $3, reprocessamentos_count = $4 where id = $1',
      [
        body.id_evento,
        new Date(Date.now() - ageMs),
        estado === 'aguardando_autorizacao_nota' ? new Date(Date.now() - ageMs) : null,
        estado === 'erro' && !hasRetry ? 3 : 0,
      ],
    );
    return String(body.id_evento);
  }

  const publicEvento = async (id: string) => {
    const { out } = await here('evento', 'mostrar', id, '--json');
    return JSON.parse(out);
  };

  /** D-52, and "Announce before acting": an event that the ADN may have is searched for, and not withdrawn. */
  const MOVES: Readonly<Record<string, Readonly<Partial<Record<EventoEstado, EventoEstado>>>>> = {
    reprocessar: { erro: 'enviado', erro_reprocessamento: 'enviado' },
    separar: { erro: 'erro_reprocessamento' },
    cancelar: { pendente: 'cancelado', aguardando_autorizacao_nota: 'cancelado' },
    dispensar: {
      pendente: 'dispensado',
      enviado: 'dispensado',
      aguardando_autorizacao_nota: 'dispensado',
      erro: 'dispensado',
      erro_reprocessamento: 'dispensado',
    },
    arquivar: { rejeitado: 'rejeitado' },
  };

  for (const [operacao, moves] of Object.entries(MOVES)) {
    test(`nfse evento ${operacao}, from every state`, async () => {
      for (const estado of Object.keys(EVENTO_ESTADOS) as EventoEstado[]) {
        const id = await put({ estado });
        const said = await here('evento', operacao, id, '--motivo', 'Decisão da prefeitura');
        const { evento, trilha, operacoes } = await publicEvento(id);
        const to = moves[estado];
        if (to === undefined) {
          assert.deepEqual([said.code, said.out], [1, ''], `${estado}: ${told(said)}`);
          assert.equal(evento.status_evento, estado);
          assert.match(
            said.err,
            new RegExp(`^O evento ${id} \\(confirmacao_tomador nº 1\\) está ${estado}, e ${operacao} `),
          );
          for (const [other, from] of Object.entries(MOVES)) {
            const offered = said.err.includes(`nfse evento ${other} ${id} --municipio integracao`);
            assert.equal(offered, from[estado] !== undefined, `${estado}: ${said.err}`);
          }
          continue;
        }
        assert.equal(said.code, 0, `${estado}: ${told(said)}`);
        assert.match(said.out, new RegExp(`^O evento ${id} \\(confirmacao_tomador nº 1\\) está ${to}\\. `));
        assert.equal(evento.status_evento, to);
        // A refusal keeps its reason for the integrator.
        assert.equal(evento.mensagem_retorno, operacao === 'arquivar' ? null : 'Decisão da prefeitura');
        const last = trilha.at(-1);
        assert.deepEqual([last.de, last.para, last.mensagem], [estado, to, 'Decisão da prefeitura']);
        const possible = Object.keys(MOVES).filter((other) => MOVES[other]![to] !== undefined);
        assert.deepEqual(operacoes, operacao === 'arquivar' ? [] : possible);
      }
    });
  }

  test('what a waived event is worth depends on its type and on whether it may have been sent', async () => {
    const waived = async (asked: Put, tipo?: string): Promise<string> =>
      (await here('evento', 'dispensar', await put(asked, tipo))).out;
    assert.match(await waived({ estado: 'pendente' }), /não será enviado, e vale neste município\.\n$/);
    assert.match(await waived({ estado: 'pendente' }, 'cancelamento'), /não será enviado, e não muda a nota\.\n$/);
    assert.match(
      await waived({ estado: 'erro' }, 'cancelamento'),
      /Se o ADN o recebeu numa tentativa anterior, lá ele vale\.\n$/,
    );
  });

  test('a second cancellation is not put on its way', async () => {
    const first = await put({ estado: 'erro_reprocessamento' }, 'cancelamento');
    const { evento } = await publicEvento(first);
    const second = await request(service.address, `/integracao/api/v1/nfse/${evento.chave_acesso}/eventos`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(exemploDe(tipoBySlug('cancelamento')!)),
    });
    assert.equal(second.status, 201, JSON.stringify(second.body));
    const said = await here('evento', 'reprocessar', first);
    assert.equal(said.code, 1, told(said));
    assert.match(said.err, new RegExp(`o evento ${second.body.id_evento} \\(cancelamento nº 2\\) está pendente`));
  });

  test('a spent cancellation of a note that is cancelled already is not sent again', async () => {
    const id = await put({ estado: 'erro', hasRetry: false }, 'cancelamento');
    const { evento, operacoes } = await publicEvento(id);
    assert.deepEqual(operacoes, ['reprocessar', 'separar', 'dispensar']);
    await service.pool.query("update notas set estado = 'cancelada' where chave_acesso = $1", [evento.chave_acesso]);
    assert.deepEqual((await publicEvento(id)).operacoes, ['separar', 'dispensar']);
    const said = await here('evento', 'reprocessar', id);
    assert.equal(said.code, 1, told(said));
    assert.match(
      said.err,
      /cancelaria uma nota que já está cancelada.*: nfse evento dispensar \d+ --municipio integracao\.\n$/,
    );
    assert.equal((await here('evento', 'dispensar', id)).code, 0);
  });

  test('an event that there is not, and a reason that says nothing or too much', async () => {
    for (const id of ['999999', '0', 'x', '99999999999999999999']) {
      const said = await here('evento', 'dispensar', id);
      assert.equal(said.code, 1, told(said));
      assert.match(said.err, /nfse evento listar CHAVE --municipio integracao/);
    }
    const id = await put({ estado: 'pendente' });
    assert.match((await here('evento', 'dispensar', id, '--motivo', ' ')).err, /--motivo está vazio/);
    assert.match(
      (await here('evento', 'dispensar', id, '--motivo', 'x'.repeat(256))).err,
      /tem 256 caracteres; cabem 255/,
    );
    assert.equal((await publicEvento(id)).evento.status_evento, 'pendente');
  });

  test('what comes from outside moves no cursor', async () => {
    const id = await put({ estado: 'rejeitado' });
    await service.pool.query('update eventos set mensagem_retorno = $2 where id = $1', [id, 'a\u001b[2Jb\nc']);
    const { out } = await here('evento', 'mostrar', id);
    assert.match(out, /^ {2}mensagem_retorno +a \[2Jb c$/m);
  });

  const problemIds = async (...filter: readonly string[]): Promise<readonly string[]> => {
    const said = await here('evento', 'problemas', '--json', ...filter);
    assert.equal(said.code, 0, told(said));
    return JSON.parse(said.out).eventos.map(({ id_evento }: EventoPublico) => String(id_evento));
  };

  /** An event that the national environment refused with a code. */
  async function putRefused(codigo: string): Promise<string> {
    const id = await put({ estado: 'rejeitado' });
    await service.pool.query('update eventos set codigo_retorno = $2 where id = $1', [id, codigo]);
    return id;
  }

  test('however many events of one note are stuck, a refusal is seen; filters and pages show the rest', async () => {
    await service.pool.query("delete from fila where tipo = 'evento'; delete from eventos");
    const first = await put({ estado: 'pendente', ageMs: 6 * MINUTE_MS });
    const { chave_acesso } = (await publicEvento(first)).evento as EventoPublico;
    await service.pool.query(
      `insert into eventos (tenant, id, mes, nota, mes_nota, ordem, codigo_tipo_evento, numero_sequencial, cancela, estado, aberto,
          desde, criado_em, autor, campos)
        select tenant, 900000 + n, mes, nota, mes_nota, n, codigo_tipo_evento, n, cancela, estado, aberto, desde, criado_em, autor,
          campos
        from eventos, generate_series(2, 999) n where id = $1`,
      [first],
    );
    const refused = await putRefused('E1310');
    const { code, out } = await here('evento', 'problemas');
    assert.equal(code, 0);
    assert.match(out, /^1\.000 eventos:\n/);
    assert.equal(row(out, 'rejeitado E1310'), '1 evento em 1 nota');
    assert.equal(row(out, 'pendente'), '999 eventos em 1 nota');
    const listed = [...out.matchAll(/^(\d+) +confirmacao_tomador .* (\d+) +(\d{50})$/gm)];
    assert.deepEqual(
      listed.map(([, id, quantos]) => [id, quantos]),
      [
        [refused, '1'],
        [first, '999'],
      ],
    );
    assert.equal(listed[1]![3], chave_acesso);

    assert.deepEqual(await problemIds('--estado', 'rejeitado'), [refused]);
    assert.deepEqual(await problemIds('--codigo', 'e1310'), [refused]);
    assert.doesNotMatch(out, /das partes/);
    const between = [await putRefused('E0840'), await putRefused('E1833')];
    await service.pool.query('update eventos set entre_partes = true where id = any($1)', [between]);
    const beside = /Fora desta lista, 2 recusas são assunto das partes: --entre-partes as mostra\.\n/;
    assert.match((await here('evento', 'problemas')).out, beside);
    assert.match((await here('evento', 'problemas', '--codigo', 'E0042')).out, /^Nenhum evento com este filtro\.\n$/);
    assert.deepEqual((await problemIds('--entre-partes')).toSorted(), between.toSorted());
    assert.doesNotMatch((await here('evento', 'problemas', '--entre-partes')).out, /Fora desta lista/);
    assert.deepEqual(await problemIds('--codigo', 'E9999'), []);
    const ofNota = ['--nota', chave_acesso];
    assert.deepEqual((await problemIds(...ofNota)).slice(0, 2), [first, '900002']);
    assert.equal((await problemIds(...ofNota)).length, 50);
    assert.deepEqual((await problemIds(...ofNota, '--pagina', '20')).at(-1), '900999');
    const page = await here('evento', 'problemas', ...ofNota, '--pagina', '2');
    assert.match(page.out, /\nPágina 2 de 20; a seguinte: --pagina 3\.\n/);
    assert.match((await here('evento', 'problemas', '--pagina', '2')).err, /^Não há página 2/);
    assert.equal((await here('evento', 'problemas', '--pagina', '0')).code, 2);
    assert.match((await here('evento', 'problemas', '--estado', 'processado')).err, /não é um estado desta lista/);
    assert.match((await here('evento', 'problemas', '--nota', '1')).err, /50 posições/);
  });

  test('refusals are filed several at once, and by a filter with the number that the operator has seen', async () => {
    await service.pool.query("delete from fila where tipo = 'evento'; delete from eventos");
    const [one, two, other] = [await putRefused('E1310'), await putRefused('E1310'), await putRefused('E0042')];
    const before = await here('evento', 'arquivar', '--codigo', 'E1310');
    assert.deepEqual([before.code, before.out], [2, ''], told(before));
    const way = 'nfse evento arquivar --codigo E1310 --municipio integracao --confirmar';
    assert.match(before.err, new RegExp(`^O filtro alcança 2 recusas\\. .*: ${way} 2\n$`));
    const wrong = await here('evento', 'arquivar', '--codigo', 'E1310', '--confirmar', '3');
    assert.deepEqual([wrong.code, wrong.out], [1, ''], told(wrong));
    assert.match(wrong.err, /alcança 2 recusas, e não 3: nada foi arquivado/);
    assert.equal((await problemIds()).length, 3);
    const filed = await here('evento', 'arquivar', '--codigo', 'E1310', '--confirmar', '2', '--motivo', 'Vistas');
    assert.equal(filed.code, 0, told(filed));
    assert.deepEqual(await problemIds(), [other]);
    const { gatilho, mensagem } = (await publicEvento(two)).trilha.at(-1);
    assert.deepEqual([gatilho, mensagem], ['arquivamento', 'Vistas']);

    const more = [await putRefused('E0042'), await putRefused('E0042')];
    const several = await here('evento', 'arquivar', other, ...more, one);
    assert.equal(several.code, 1, told(several));
    assert.equal(several.out.split('\n').length - 1, 3);
    assert.match(several.err, new RegExp(`^O evento ${one} .* já está arquivado`));
    assert.deepEqual(await problemIds(), []);
    const none = await here('evento', 'arquivar');
    assert.equal(none.code, 2);
    assert.match(none.err, /^Falta o que arquivar/);
    assert.equal((await here('evento', 'arquivar', one, '--codigo', 'E0042')).code, 2);
    assert.equal((await here('evento', 'arquivar', '--codigo', 'E0042', '--confirmar', '1')).code, 0);
  });

  test('the trail says who made a move by hand, by the name that the machine knows them by', async () => {
    const id = await put({ estado: 'pendente' }, 'cancelamento');
    const user = execFileSync('id', ['-un'], { encoding: 'utf8' }).trim();
    assert.equal((await here('evento', 'cancelar', id, '--motivo', 'A pedido')).code, 0);
    const { trilha } = await publicEvento(id);
    assert.deepEqual(
      trilha.map(({ quem }: { quem: string | null }) => quem),
      [null, user],
    );
    const shown = (await here('evento', 'mostrar', id)).out;
    assert.ok(shown.includes(`pendente → cancelado (retirada, por ${user}): A pedido\n`), shown);
  });

  test('nfse evento problemas lists those whose acao_sugerida is consultar_suporte, and municipio mostrar counts them', async () => {
    await service.pool.query("delete from fila where tipo = 'evento'; delete from eventos");
    const puts: readonly Put[] = [
      { estado: 'pendente', ageMs: 6 * MINUTE_MS },
      { estado: 'pendente', ageMs: MINUTE_MS },
      { estado: 'enviado', ageMs: 48 * HOUR_MS },
      { estado: 'aguardando_autorizacao_nota', ageMs: 25 * HOUR_MS },
      { estado: 'aguardando_autorizacao_nota', ageMs: 23 * HOUR_MS },
      { estado: 'processado', ageMs: HOUR_MS },
      { estado: 'rejeitado', ageMs: HOUR_MS },
      { estado: 'rejeitado', ageMs: 2 * HOUR_MS },
      { estado: 'erro' },
      { estado: 'erro', hasRetry: false, ageMs: 3 * HOUR_MS },
      { estado: 'erro_reprocessamento', ageMs: 4 * HOUR_MS },
      { estado: 'cancelado' },
      { estado: 'dispensado' },
    ];
    const ids: string[] = [];
    for (const one of puts) ids.push(await put(one));
    const advised = await Promise.all(ids.map(async (id) => (await publicEvento(id)).evento.acao_sugerida));
    const wanted = ids.filter((_, place) => advised[place] === 'consultar_suporte');
    assert.equal(wanted.length, 6);
    const listed = await problemIds();
    assert.deepEqual([...listed].sort(), [...wanted].sort());
    // The gravest problem comes first; the newest refusal comes first.
    assert.deepEqual(
      listed,
      [10, 9, 6, 7, 3, 0].map((place) => ids[place]),
    );

    // A filed refusal leaves the list; the integrator sees no change.
    const seen = ids[6]!;
    const filed = await here('evento', 'arquivar', seen, '--motivo', 'O prestador foi avisado');
    assert.match(filed.out, /está rejeitado\. Ele não aparece mais em "evento problemas"/);
    assert.deepEqual(
      await problemIds(),
      [10, 9, 7, 3, 0].map((place) => ids[place]),
    );
    const { evento, trilha } = await publicEvento(seen);
    assert.deepEqual([evento.status_evento, evento.acao_sugerida], ['rejeitado', 'consultar_suporte']);
    const { gatilho, mensagem } = trilha.at(-1);
    assert.deepEqual([gatilho, mensagem], ['arquivamento', 'O prestador foi avisado']);
    const again = await here('evento', 'arquivar', seen);
    assert.deepEqual([again.code, again.out], [1, '']);
    assert.match(again.err, /já está arquivado, desde \d{4}-/);

    const { out } = await nfseHere(['municipio', 'mostrar', 'integracao'], service.pool);
    assert.equal(row(out, 'eventos'), 'a caminho: pendente 1, enviado 1, aguardando_autorizacao_nota 1, erro 1');
    const count = 'pendente 1, aguardando_autorizacao_nota 1, rejeitado 1, erro 1, erro_reprocessamento 1';
    assert.equal(row(out, 'a conferir'), `${count}; nfse evento problemas --municipio integracao os lista`);
    await service.pool.query("delete from fila where tipo = 'evento'; delete from eventos");
    assert.equal((await here('evento', 'problemas')).out, 'Nenhum evento pede atenção.\n');
    const quiet = (await nfseHere(['municipio', 'mostrar', 'integracao'], service.pool)).out;
    assert.equal(row(quiet, 'eventos'), 'nenhum a caminho');
    assert.doesNotMatch(quiet, /a conferir/);
  });
});
