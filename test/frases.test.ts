/**
 * The text of our messages decides nothing: the decisions stay the same with every message replaced. So a better wording has no
 * other effect.
 */
import assert from 'node:assert/strict';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { DPS_SIGNATURE_HEADER, readCorpoSignature, readDpsSignature } from '../src/base/world/sent-documents.ts';
import { openTrust } from '../src/documents/trust.ts';
import { readXml } from '../src/documents/xml.ts';
import { mensagemOfCancelamento } from '../src/fiscal/abrasf/proprias.ts';
import { refuseBesideOpen, refuseOnCancelled } from '../src/fiscal/conflitos-evento.ts';
import type { Fault } from '../src/fiscal/fault.ts';
import { checkText, sayFault } from '../src/fiscal/layout/check-text.ts';
import { type SimpleType, T } from '../src/fiscal/layout/simple-types.ts';
import { stepsFor } from '../src/subjects/assinatura/advice.ts';
import { bytesOf, type Corpus, readCorpus } from './ataques/ataque.ts';
import { onEnd } from './support/cleanup.ts';

/** The same faults, each with a random message. */
function reworded(faults: readonly Fault[]): readonly Fault[] {
  return faults.map((fault, place) => ({ ...fault, mensagem: `frase ${place}`, detalhes: `detalhe ${place}` }));
}

/** The refusals of a corpus of signatures, case by case. */
function refusedIn({
  agora,
  ancoras,
  prestador,
  partes,
  casos,
}: Corpus): readonly (readonly [string, readonly Fault[]])[] {
  const folder = mkdtempSync(path.join(tmpdir(), 'nfse-frases-'));
  onEnd(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(path.join(folder, 'ancoras.pem'), ancoras.join(''));
  const [trust, at] = [openTrust({ ancoras: folder, revogados: undefined }, { warn() {} }), Date.parse(agora)];
  const faultsOf = (body: Buffer, header: string | undefined): readonly Fault[] => {
    if (header !== undefined) {
      const question = { campo: DPS_SIGNATURE_HEADER, documento: prestador, trust, at };
      return readCorpoSignature(body, header, question).faults;
    }
    const reading = readXml(body);
    return 'fault' in reading ? [] : readDpsSignature(reading, trust, at).faults;
  };
  return casos.flatMap(({ nome, entrada }) => {
    if ('conexao' in entrada || entrada.para !== 'emissao') return [];
    const faults = faultsOf(bytesOf(entrada.corpo, partes), entrada.cabecalhos?.[DPS_SIGNATURE_HEADER]);
    return faults.length === 0 ? [] : [[nome, faults] as const];
  });
}

describe('the steps that mend a signature', () => {
  for (const name of ['xml-assinatura', 'certificados', 'cms', 'canonicalizacao']) {
    test(name, () => {
      const refused = refusedIn(readCorpus(name));
      assert.ok(refused.length > 5, `${refused.length} cases`);
      for (const [nome, faults] of refused) {
        const known = { root: 'DPS', calculado: 'abc=' };
        // A step that consists of the message has the new message; all others are as before.
        const expected = stepsFor(faults, known).map((step) => {
          const place = faults.findIndex(({ mensagem }) => mensagem === step);
          return place < 0 ? step : `frase ${place}`;
        });
        assert.deepEqual(stepsFor(reworded(faults), known), expected, nome);
      }
    });
  }

  test('only a signature out of its place is mended without signing again', () => {
    const fault = {
      codigo: 'E902',
      xpath: '/DPS/Signature',
      mensagem: 'Uma frase qualquer.',
      change: 'Mude-a de lugar.',
    };
    assert.deepEqual(stepsFor([{ ...fault, kind: 'signature_misplaced' }], { root: 'DPS', calculado: undefined }), [
      'Mude-a de lugar.',
    ]);
    assert.equal(stepsFor([fault], { root: 'DPS', calculado: undefined }).length, 2);
  });
});

test('how the expected value is told after what is wrong with a text', () => {
  const texts = [
    'x',
    '99999999999999999999',
    '1.234',
    '2026-02-30',
    '2026-13-01',
    '1999-01-01',
    'ÿ'.repeat(3000),
    '-1.00',
    '05/10/2026',
  ];
  const ways = new Set<string | undefined>();
  for (const type of Object.values<SimpleType>(T)) {
    for (const text of texts) {
      const fault = checkText(type, text);
      if (fault === undefined || fault.fix !== undefined) continue;
      ways.add(fault.expected);
      const [problem, expected] = ['tem um problema', 'outra coisa'];
      // A replacement in the message, or before the message is built, gives the same.
      const made = sayFault(type, fault).replace(fault.problem, problem);
      const { options } = type;
      const said = options === undefined ? made.replace(type.expected, expected) : made.replace(options, expected);
      const reworded = { ...type, expected, ...(options === undefined ? {} : { options: expected }) };
      assert.equal(sayFault(reworded, { ...fault, problem }), said, `${type.name} ${text.slice(0, 30)}`);
    }
  }
  assert.deepEqual(ways, new Set(['after a colon', 'never', undefined]));
});

/**
 * Files that read one of our messages, each with the reason why nothing is decided by it. The list does not grow: give the fault a `kind`
 * instead.
 */
const REWORDING: ReadonlySet<string> = new Set([
  // Drops the first words, which repeat the label of the row.
  'src/subjects/notas/explicar.command.ts',
  // Drops the layout name of a field, because its label says the same.
  'src/subjects/eventos/oficio.page.ts',
  // A reason that the text contains already is not written twice.
  'src/published/errors/page.ts',
  // A rule that the field's documentation already has is not repeated.
  'src/published/openapi/json-schema.ts',
  // Messages of OpenSSL, of PostgreSQL, of PgBouncer, of Citus and of age, which give no code.
  'packages/cliente/src/transporte.ts',
  'src/base/pg/constraint.ts',
  'src/subjects/copias/cifra.files.ts',
  'src/base/pg/pooled.ts',
  'src/base/pg/unavailable.ts',
]);

const SENTENCE = String.raw`(?:mensagem|message|problema?|motivo|detalhes?|expected|change|comoResolver|significado|nacional)\b`;
const READ_SENTENCE = new RegExp(
  [
    String.raw`${SENTENCE}[!?)]*\s*\??\.(?:includes|startsWith|endsWith|match|matchAll|search|indexOf|replace|split)\(`,
    String.raw`\.(?:test|exec)\((?:[\w.?!]+\.)?${SENTENCE}`,
    String.raw`${SENTENCE} ===? ['\`"][^'\`"]* `,
  ].join('|'),
);

test('no file takes a sentence of ours apart', () => {
  const files = globSync(['src/**/*.ts', 'packages/*/src/**/*.ts']).filter((file) => !file.endsWith('.test.ts'));
  assert.ok(files.length > 300, `${files.length} files`);
  const found = files.filter((file) => READ_SENTENCE.test(readFileSync(file, 'utf8')));
  assert.deepEqual(new Set(found), REWORDING);
});

test('a cancellation under way is told apart from a cancelled note by its kind', () => {
  const open = refuseBesideOpen({ id: '7', codigo: '105102', numero_sequencial: 2, estado: 'enviado' });
  const codes = [open, refuseOnCancelled('101101')]
    .map((one) => reworded([{ xpath: '', ...one }])[0]!)
    .map((fault) => mensagemOfCancelamento(fault).codigo);
  assert.deepEqual(codes, ['L302', 'E79']);
});
