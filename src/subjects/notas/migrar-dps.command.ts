/**
 * `nfse migrar-dps`: unwraps a document of the national API, judges it with the sandbox's facts, and rewrites it for this service. Neither
 * a service nor a database is needed.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import {
  askedWrongly,
  bytesOf,
  type Command,
  JSON_OPTION,
  type Terminal,
  textOf,
  type Values,
} from '../../base/terminal/command.ts';
import { columns, faultLines, jsonText, printable } from '../../base/terminal/text.ts';
import { BRASILIA, momentIn } from '../../fiscal/moment.ts';
import { DIFERENCAS } from '../../published/api-nacional.ts';
import { BODY_MAX_BYTES, BODY_MAX_TEXT } from '../../published/http-limits.ts';
import { writeFileFor } from '../assinatura/sign.ts';
import { type Migrado, migrarDps, type NaoMigrado } from './migrar-dps.ts';
import { validateDocument } from './validate.ts';

export const MIGRAR_DPS: Command = {
  name: 'migrar-dps',
  arguments: 'ARQUIVO',
  summary: 'Abre o que se envia à API nacional (envelope, gzip, Base64, XML), diz o que muda e grava a DPS mudada.',
  options: {
    saida: { takes: 'ARQUIVO', help: 'grava nele o documento pronto para assinar; não pode existir' },
    ...JSON_OPTION,
  },
  notes: [['ARQUIVO', '- lê da entrada padrão; o que se aceita vai até 1 MiB, e até 4 MB depois de aberto']],
  run: (terminal, values, [file]) => migrar(terminal, values, file!),
};

const LOTE_MAX = 50;

/** Exit code 0: the service would accept the result; 1: a decision is left, or the input is no document; 2: wrong usage. */
async function migrar(terminal: Terminal, values: Values, file: string): Promise<number> {
  const given = file === '-' ? await readStandardInput() : await bytesOf(file);
  if (given.length > BODY_MAX_BYTES) {
    return askedWrongly(
      terminal,
      `O que veio passa de ${BODY_MAX_TEXT}, o limite do serviço: não é um documento que se envie.\n`,
    );
  }
  const agora = Date.now();
  const hoje = momentIn(BRASILIA, agora).date;
  const { documentos } = await migrarDps(async (sent) => validateDocument(sent, hoje), given, {
    agora,
    documentosMax: LOTE_MAX,
    bytesMax: BODY_MAX_BYTES,
  });
  const saida = textOf(values, 'saida');
  const files = documentos.map((one, place) =>
    saida === undefined || 'problema' in one ? undefined : numberedFile(saida, place, documentos.length),
  );
  const there = files.find((name) => name !== undefined && existsSync(name));
  if (there !== undefined) throw new Error(alreadyThere(there));
  for (const [place, one] of documentos.entries()) {
    const name = files[place];
    if (name !== undefined && !('problema' in one)) await writeNew(name, one.bytes);
  }
  if (values['json'] === true)
    terminal.out(
      jsonText({ documentos: documentos.map((one, place) => present(one, files[place])), diferencas: DIFERENCAS }),
    );
  else {
    for (const [place, one] of documentos.entries()) {
      if (documentos.length > 1) terminal.out(`Documento ${place + 1} de ${documentos.length}\n\n`);
      terminal.out(describe(one, files[place]));
    }
    terminal.out(describeDifferences());
  }
  return documentos.every((one) => !('problema' in one) && one.conferido.faults.length === 0) ? 0 : 1;
}

/** Input beyond the limit of the check is dropped. */
async function readStandardInput(): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of process.stdin) {
    pieces.push(piece);
    length += piece.length;
    if (length > BODY_MAX_BYTES) break;
  }
  return Buffer.concat(pieces);
}

/** `dps.xml`; `dps-1.xml`, `dps-2.xml` for a lot. */
function numberedFile(saida: string, place: number, count: number): string {
  if (count === 1) return saida;
  const { dir, name, ext } = path.parse(saida);
  return path.join(dir, `${name}-${place + 1}${ext}`);
}

const alreadyThere = (file: string): string => `o arquivo ${file} já existe; indique outro em --saida.`;

async function writeNew(file: string, bytes: Uint8Array): Promise<void> {
  try {
    await writeFileFor(file, bytes, { flag: 'wx' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(
      code === 'EEXIST' ? alreadyThere(file) : `o arquivo ${file}, de --saida, não pôde ser gravado (${code}).`,
    );
  }
}

function present(one: Migrado | NaoMigrado, gravado: string | undefined): object {
  const passos = one.embrulho.map(({ diz }) => diz);
  if ('problema' in one) return { passos, problema: one.problema };
  const { conferido, mudancas, corrigidas, destino } = one;
  const { especie, faults, avisos, texto } = conferido;
  return {
    passos,
    especie,
    mudancas,
    corrigidos: corrigidas,
    restam: faults,
    avisos,
    destino,
    documento: texto,
    ...(gravado === undefined ? {} : { gravado }),
  };
}

function describe(one: Migrado | NaoMigrado, gravado: string | undefined): string {
  const last = 'problema' in one ? [] : [`Isto é: ${one.conferido.especie}.`];
  const steps = [...one.embrulho.map(({ diz }) => diz), ...last].map(
    (step, place) => `${place + 1}. ${printable(step)}`,
  );
  if ('problema' in one) return `${[...steps, printable(one.problema)].join('\n')}\n\n`;
  const { conferido, mudancas, corrigidas, destino } = one;
  const restam = conferido.faults;
  const sections = [
    steps.join('\n'),
    mudancas.length === 0
      ? ''
      : `O que muda neste documento:\n${columns(mudancas.map(({ assunto, diz }) => [DIFERENCAS[assunto].titulo, printable(diz)])).join('\n')}`,
    corrigidas.length === 0 ? '' : `Corrigido, porque só há um jeito:\n${faultLines(corrigidas)}`,
    restam.length === 0
      ? 'Assim o serviço o aceita, no ambiente de integração. Nada foi emitido.'
      : `${restam.length === 1 ? 'Resta 1 erro, que pede' : `Restam ${restam.length} erros, que pedem`} decisão sua:\n${faultLines(restam)}`,
    conferido.naoConferido.join('\n'),
    conferido.avisos.length === 0 ? '' : `Avisos, que em produção podem ser recusas:\n${faultLines(conferido.avisos)}`,
    gravado === undefined ? 'Com --saida ARQUIVO o documento mudado é gravado.' : `Gravado em ${gravado}.`,
    `Envia-se por POST a /{municipio}${destino}; nos ensaios {municipio} é integracao. Em produção assine-o antes, com nfse assinar.`,
  ];
  return `${sections.filter((one) => one !== '').join('\n\n')}\n\n`;
}

function describeDifferences(): string {
  const rows = Object.values(DIFERENCAS).flatMap(({ titulo, nacional, aqui }): (readonly [string, string])[] => [
    [titulo, `lá:   ${nacional.replaceAll('`', '')}`],
    ['', `aqui: ${aqui.replaceAll('`', '')}`],
  ]);
  return `O que muda no seu programa:\n${columns(rows).join('\n')}\n`;
}
