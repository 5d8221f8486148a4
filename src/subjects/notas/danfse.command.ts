/** `nfse danfse`: prints notes from their XML. Neither a service nor a database is needed. */
import path from 'node:path';
import {
  askedWrongly,
  bytesOf,
  type Command,
  type Terminal,
  textOf,
  type Values,
} from '../../base/terminal/command.ts';
import { printable } from '../../base/terminal/text.ts';
import type { DanfseImpresso } from './danfse-de-xml.ts';

export const DANFSE: Command = {
  name: 'danfse',
  arguments: '[ARQUIVO …]',
  summary: 'Faz o DANFSe (PDF) de cada NFS-e em XML, sem o serviço nem o banco; o de ARQUIVO.xml é ARQUIVO.pdf.',
  options: { pasta: { takes: 'PASTA', help: 'onde ficam os PDF (padrão: ao lado de cada XML)' } },
  notes: [
    ['', ''],
    ['Eventos', 'entre os arquivos, o XML de um evento de cancelamento ou de substituição põe a marca na nota dele'],
    ['Não se confere', 'a assinatura, nem se há um evento que não foi dado; o código QR leva à consulta pública'],
  ],
  run: print,
};

/** Exit code 0: each NFS-e was printed; 1: a file was refused; 2: wrong usage. */
async function print(terminal: Terminal, values: Values, arquivos: readonly string[]): Promise<number> {
  if (arquivos.length === 0) return askedWrongly(terminal, 'Falta ao menos um ARQUIVO, o XML de uma NFS-e.\n');
  const pasta = textOf(values, 'pasta');
  const dados = [];
  for (const arquivo of arquivos) dados.push({ arquivo, bytes: await bytesOf(arquivo) });
  // Reading and drawing are loaded once there is a file.
  const { printDanfses, writeNew } = await import('./danfse-de-xml.ts');
  let refused = 0;
  for (const one of printDanfses(dados)) {
    const file = pdfOf(one.arquivo, pasta);
    const problema = 'pdf' in one ? await writeNew(file, one.pdf) : one.problema;
    if (problema !== undefined) {
      refused += 1;
      terminal.err(`${printable(one.arquivo)}: ${printable(problema)}\n`);
    } else if ('pdf' in one) terminal.out(`${printable(file)}: ${describe(one)}\n`);
  }
  return refused === 0 ? 0 : 1;
}

function describe({ chave, situacao }: DanfseImpresso): string {
  return situacao === undefined ? `nota ${chave}` : `nota ${chave}, com a marca de ${MARCAS[situacao]}`;
}

function pdfOf(arquivo: string, pasta: string | undefined): string {
  const { dir, name } = path.parse(arquivo);
  return path.join(pasta ?? dir, `${name}.pdf`);
}

const MARCAS: Readonly<Record<string, string>> = { cancelada: 'cancelada', substituida: 'substituída' };
