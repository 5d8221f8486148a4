/** `nfse evidencia CHAVE`: all stored data of a note, as a bundle that an expert checks without this service. */
import { writeFile } from 'node:fs/promises';
import {
  byHand,
  type CliWorld,
  type Command,
  inMunicipio,
  refuseAsked,
  textOf,
  type Values,
} from '../../base/terminal/command.ts';
import { printable } from '../../base/terminal/text.ts';
import { programText } from '../../published/versao.ts';
import { makeEvidencia } from './evidencia.ts';

export const EVIDENCIA: Command = {
  name: 'evidencia',
  arguments: 'CHAVE',
  summary: 'Reúne as provas de uma nota num ZIP que um perito confere só com openssl e xmlsec1.',
  options: {
    municipio: { takes: 'SLUG', help: 'município da nota' },
    saida: {
      takes: 'ARQUIVO',
      help: 'onde escrever; sem ela, evidencia-CHAVE.zip nesta pasta. Um arquivo que já existe fica',
    },
    motivo: { takes: 'TEXTO', help: 'para que processo ou ofício; fica no histórico' },
  },
  run: (world, values, [chave]) =>
    inMunicipio(world, values, 'de que município é a nota', (municipio) => escrever(world, values, municipio, chave!)),
};

async function escrever(world: CliWorld, values: Values, municipio: string, chave: string): Promise<number> {
  const made = await world.registry((registry) =>
    makeEvidencia({ ...registry, programa: programText() }, municipio, chave, byHand(values)),
  );
  if ('problem' in made) return refuseAsked(world, made.problem);
  const { nome, zip, arquivos, contradicoes } = made;
  const file = textOf(values, 'saida') ?? nome;
  try {
    await writeFile(file, zip, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST') throw error;
    return refuseAsked(world, `${file} já existe, e fica como está: dê outro nome com --saida.`);
  }
  world.out(`${arquivos} arquivos em ${file}. Extraia-os numa pasta vazia e comece por LEIA-ME.html.\n`);
  for (const one of contradicoes) world.err(`Contradição: ${printable(one)}\n`);
  if (contradicoes.length > 0) world.err(CONTRADICTED);
  world.out('O conjunto tem dados pessoais das partes da nota, e quem o fez está no histórico do município.\n');
  return 0;
}

const CONTRADICTED =
  'O conjunto se contradiz, e a página o diz no começo. Antes de o entregar, confira a corrente: nfse auditoria verificar.\n';
