/** `nfse municipio …`: opens a municipality, changes its settings, and shows it. */

import {
  byHand,
  type CliWorld,
  type Command,
  JSON_OPTION,
  type Options,
  refuseAsked,
  type Terminal,
  textOf,
  type Values,
} from '../../base/terminal/command.ts';
import { columns, jsonText, printable, tableLines } from '../../base/terminal/text.ts';
import {
  type Asked,
  alterMunicipio,
  type Configured,
  changesOf,
  createMunicipio,
  listMunicipios,
  type MunicipioShown,
  type Recusa,
  showMunicipio,
} from '../../base/world/municipios.ts';
import { formatDecimal } from '../../fiscal/decimal.ts';
import { groupDigits } from '../../fiscal/group-digits.ts';
import { LISTAS, type ListaNome } from '../../fiscal/registers.ts';
import { isChoice, SETTINGS, showSetting } from '../../fiscal/settings.ts';
import { countEventos, type EventosContados } from '../eventos/problem.ts';
import { excluirMunicipio, foreseeExclusao } from './excluir.ts';
import type { TesteDoAdn } from './testar-adn.ts';

type Municipio = MunicipioShown['municipio'];

/** The option of each setting; `isNew`: the municipality is new, and the help shows the default. */
function settingOptions(isNew: boolean): Options {
  const rows = SETTINGS.map(([, { option, takes, help, usual }]) => [
    option,
    { takes, help: isNew && usual !== undefined ? `${help} (padrão: ${usual})` : help },
  ]);
  return Object.fromEntries(rows);
}

/** The options that remove a setting; a new municipality has only those of settings that are on by default. */
function removingOptions(isNew: boolean): Options {
  const rows = SETTINGS.flatMap(([, { option, without, isOnAtFirst }]) =>
    without === undefined || (isNew && !isOnAtFirst) ? [] : [[`sem-${option}`, { help: without }]],
  );
  return Object.fromEntries(rows);
}

export const MUNICIPIO_COMMANDS: readonly Command[] = [
  {
    name: 'municipio criar',
    arguments: 'SLUG',
    summary: 'Abre um município; SLUG é o começo do seu endereço neste serviço, como sao-paulo.',
    options: { ...settingOptions(true), ...removingOptions(true) },
    run: (world, values, [slug]) =>
      world.registry(async (registry) => {
        const code = tellConfigured(
          world,
          await createMunicipio(registry, slug!, readAsked(values), byHand(values)),
          'Município criado.',
        );
        if (code === 0) world.out(`${whoLooksAfter(slug!)}\n`);
        return code;
      }, true),
  },
  {
    name: 'municipio listar',
    summary: 'Lista os municípios.',
    options: JSON_OPTION,
    run: listar,
  },
  {
    name: 'municipio mostrar',
    arguments: 'SLUG',
    summary: 'Mostra o que um município tem configurado, e se os arquivos estão no lugar.',
    options: JSON_OPTION,
    run: (world, values, [slug]) =>
      world.registry(async (registry) => {
        const about = await showMunicipio(registry, slug!);
        const eventos = await countEventos(registry, slug!);
        if (values['json'] !== true) return tellMunicipio(world, about, eventos);
        world.out(jsonText({ ...about, municipio: municipioJson(about.municipio), eventos }));
        return about.problems.length === 0 ? 0 : 1;
      }),
  },
  {
    name: 'municipio conferir',
    summary:
      'Confere se esta máquina tem os arquivos de todos os municípios; rode em cada uma, como a conta do serviço.',
    run: conferir,
  },
  {
    name: 'municipio alterar',
    arguments: 'SLUG',
    summary: 'Muda o que for indicado e deixa o resto; vale em segundos, sem reiniciar o serviço.',
    options: {
      ...settingOptions(false),
      ...removingOptions(false),
      motivo: { takes: 'TEXTO', help: 'por quê; fica no histórico' },
    },
    run: async (world, values, [slug]) => {
      if (Object.keys(values).every((name) => name === 'motivo')) {
        world.err('Nada a alterar: indique ao menos uma opção. nfse municipio alterar --help mostra quais.\n');
        return 2;
      }
      return world.registry(async (registry) =>
        tellConfigured(
          world,
          await alterMunicipio(registry, slug!, readAsked(values), byHand(values)),
          'Município alterado.',
        ),
      );
    },
  },
  {
    name: 'municipio testar-adn',
    arguments: 'SLUG',
    summary: 'Testa a conexão com o ADN, com o certificado do município, sem enviar nada.',
    options: { ...JSON_OPTION },
    run: (world, values, [slug]) =>
      world.registry(async (registry) => {
        const { testAdn } = await import('./testar-adn.ts');
        return tellTeste(world, await testAdn(registry, slug!, byHand(values)), values['json'] === true);
      }),
  },
  {
    name: 'municipio excluir',
    arguments: 'SLUG',
    summary: 'Retira um município que nunca emitiu notas, com o seu cadastro e a sua lista de serviços.',
    options: { confirmar: { help: 'retira de fato; sem ela só diz o que seria retirado' } },
    run: (world, values, [slug]) => excluir(world, slug!, values['confirmar'] === true),
  },
];

const SITUACOES = { bom: 'certo', aviso: 'certo, com aviso', erro: 'ERRO', nao_feito: 'não tentado' } as const;

function tellTeste(terminal: Terminal, teste: TesteDoAdn, isJson: boolean): number {
  const { passou, passos } = teste;
  if (isJson) terminal.out(jsonText(teste));
  else {
    const rows = passos.flatMap(({ passo, situacao, diz }): (readonly [string, string])[] => [
      [passo, SITUACOES[situacao]],
      ...diz.map((one) => ['', one] as const),
    ]);
    for (const line of columns(rows)) terminal.out(`${printable(line)}\n`);
    terminal.out(
      passou ? 'O município alcança o ADN.\n' : 'O município não alcança o ADN: resolva o que está em ERRO.\n',
    );
  }
  return passou ? 0 : 1;
}

function whoLooksAfter(slug: string): string {
  return `Quem cuida dele no console: nfse usuario criar LOGIN --municipio ${slug} --papel administracao`;
}

function excluir(world: CliWorld, slug: string, isConfirmed: boolean): Promise<number> {
  return world.registry(async (registry) => {
    const removal = await foreseeExclusao(registry, slug);
    const problem =
      'problem' in removal ? removal.problem : isConfirmed ? await excluirMunicipio(registry, removal) : undefined;
    if ('problem' in removal || problem !== undefined) {
      return refuseAsked(world, `Nada foi excluído. ${problem}`);
    }
    const { municipio, nome, prestadores, listas, certificados } = removal;
    const what = [
      `  ${municipio.ambiente}, ${municipio.codigoIbge ?? ''} ${nome ?? ''}`.trimEnd(),
      `  prestadores do cadastro      ${groupDigits(prestadores)}`,
      `  linhas da lista de serviços  ${groupDigits(listas.servicos)}`,
      ...cadastroRows(listas).map(([nome, linhas]) => `  ${nome.padEnd(27)}  ${linhas}`),
      `  certificados do console      ${groupDigits(certificados)}, nesta máquina, com as chaves`,
      '  Os outros arquivos que ele indica (âncoras, certificados) ficam onde estão.',
    ].join('\n');
    if (isConfirmed) {
      world.out(`Município ${slug} excluído:\n${what}\n`);
      return 0;
    }
    world.err(
      `Seria excluído o município ${slug}:\n${what}\nPara excluir: nfse municipio excluir ${slug} --confirmar\n`,
    );
    return 2;
  });
}

function readAsked(values: Values): Asked {
  const written = SETTINGS.flatMap(([name, { option, takes }]) => {
    const value = takes === undefined ? values[option] === true || undefined : textOf(values, option);
    return value === undefined ? [] : [[name, value]];
  });
  const without = SETTINGS.flatMap(([name, { option }]) => (values[`sem-${option}`] === true ? [name] : []));
  return { written: Object.fromEntries(written), without };
}

function tellConfigured(terminal: Terminal, result: Configured, done: string): number {
  if ('problems' in result) {
    const { problems } = result;
    terminal.err(`Nada foi gravado. ${problems.length === 1 ? 'O problema' : 'Os problemas'}:\n`);
    for (const problem of problems) terminal.err(`  ${printable(describeRecusa(problem))}\n`);
    return 1;
  }
  const { municipio, antes, avisos, certificado } = result;
  const changes = antes === undefined ? [] : changesBetween(antes, municipio);
  if (antes !== undefined && changes.length === 0) terminal.out('Nada mudou: o município já estava assim.\n');
  else terminal.out(`${done}\n`);
  for (const line of columns(changes)) terminal.out(`${printable(line)}\n`);
  for (const [name, value] of certificadoRows(certificado)) terminal.out(`  ${name.padEnd(8)}  ${printable(value)}\n`);
  for (const aviso of avisos) terminal.out(`  aviso     ${printable(aviso)}\n`);
  terminal.out(`nfse municipio mostrar ${municipio.tenant} mostra tudo.\n`);
  return 0;
}

function describeRecusa({ campo, texto }: Recusa): string {
  const option = SETTINGS.find(([name]) => name === campo)?.[1].option;
  return option === undefined ? texto : `--${option} ${texto}`;
}

/** Each changed setting, with its old and new value. */
function changesBetween(antes: Municipio, depois: Municipio): readonly (readonly [string, string])[] {
  return changesOf(antes, depois).map(([title, before, after]) => [title, `${before} → ${after}`]);
}

/** The settings that a municipality may choose, with their values. */
function choiceRows(municipio: Municipio): readonly (readonly [string, string])[] {
  return SETTINGS.filter(([name]) => isChoice(name)).map((setting) => showSetting(setting, municipio));
}

/** Amounts as texts, as everywhere in JSON. */
function municipioJson({ aliquotaPadrao, ...municipio }: Municipio): object {
  return { ...municipio, aliquotaPadrao: aliquotaPadrao === undefined ? null : formatDecimal(aliquotaPadrao) };
}

async function listar(world: CliWorld, values: Values): Promise<number> {
  return world.registry(async (registry) => {
    const municipios = await listMunicipios(registry);
    if (values['json'] === true) {
      world.out(
        jsonText(municipios.map(({ nome, espera, ...municipio }) => ({ ...municipioJson(municipio), nome, espera }))),
      );
      return 0;
    }
    if (municipios.length === 0) world.out('Ainda não há municípios. Crie um: nfse municipio criar --help\n');
    const rows = municipios.map(({ tenant, ambiente, codigoIbge, nome, espera, adn }) => [
      tenant,
      ambiente,
      codigoIbge === undefined ? 'qualquer município' : `${codigoIbge} ${nome}`,
      `${notasOf(espera)} à espera`,
      ambiente === 'producao' ? `ADN ${adn?.url ?? 'não configurado'}` : '',
    ]);
    for (const line of tableLines(rows, world.columns)) world.out(`${line}\n`);
    return 0;
  });
}

async function conferir(world: CliWorld): Promise<number> {
  return world.registry(async (registry) => {
    const { conferirArquivos } = await import('./conferir-arquivos.ts');
    const all = await conferirArquivos(registry);
    if (all.length === 0) world.out('Nenhum município indica arquivos.\n');
    for (const { tenant, problems, avisos } of all) {
      if (problems.length === 0) world.out(`${tenant}: os arquivos estão no lugar e legíveis por este usuário.\n`);
      for (const problem of problems) world.out(`${tenant}: PROBLEMA: ${printable(problem)}\n`);
      for (const aviso of avisos) world.out(`${tenant}: aviso: ${printable(aviso)}\n`);
    }
    return all.some(({ problems }) => problems.length > 0) ? 1 : 0;
  });
}

function tellMunicipio(terminal: Terminal, about: MunicipioShown, eventos: EventosContados): number {
  const { municipio, nome, certificado, prestadores, listas, espera, retidas, transmissao, problems, avisos } = about;
  const { tenant, ambiente, codigoIbge, aliquotaPadrao, confianca, adn } = municipio;
  const lines: (readonly [string, string])[] = [
    ['ambiente', ambiente],
    ['município', codigoIbge === undefined ? 'qualquer um (ambiente de integração)' : `${codigoIbge} ${nome}`],
    ['âncoras', confianca.ancoras ?? 'raízes da ICP-Brasil que acompanham o programa'],
    ['revogados', confianca.revogados ?? 'não consultados'],
    ...choiceRows(municipio),
    ['ADN', adn?.url ?? 'não configurado'],
  ];
  if (adn !== undefined) {
    lines.push(['CA do ADN', adn.ca ?? 'autoridades do sistema']);
    if ('pfx' in adn.chaves) lines.push(['PFX', adn.chaves.pfx]);
    else lines.push(['certificado', adn.chaves.certificado], ['chave', adn.chaves.chave]);
    if (adn.chaves.senhaArquivo !== undefined) lines.push(['senha em', adn.chaves.senhaArquivo]);
  }
  lines.push(...certificadoRows(certificado));
  lines.push(
    ['prestadores', groupDigits(prestadores)],
    [
      'serviços',
      listas.servicos === 0
        ? `sem lista: todo código nacional; alíquota: ${aliquotaPadrao === undefined ? 'a da DPS' : `${formatDecimal(aliquotaPadrao)} %`}`
        : linhasText(listas.servicos),
    ],
    ...cadastroRows(listas),
  );
  if (espera === undefined) lines.push(['à espera', notasOf(0)]);
  else {
    const next = espera.proxima === undefined ? 'a qualquer momento' : `em ${espera.proxima}`;
    const oldest = espera.notas === 1 ? 'emitida' : 'a mais antiga emitida';
    lines.push(['à espera', `${notasOf(espera.notas)}, ${oldest} em ${espera.desde}; próxima tentativa ${next}`]);
  }
  if (retidas !== undefined) {
    lines.push([
      'retidas',
      `${notasOf(retidas.notas)}, desde ${retidas.desde}; esperam uma alíquota, e não são enviadas`,
    ]);
    for (const motivo of retidas.motivos) lines.push(['', motivo]);
  }
  lines.push(...eventosRows(tenant, eventos));
  if (transmissao !== undefined) {
    const { problema, desde, vistoEm } = transmissao;
    lines.push(['transmissão', `${problema} (desde ${desde}; visto ainda em ${vistoEm})`]);
  }
  for (const aviso of avisos) lines.push(['aviso', aviso]);
  for (const problem of problems) lines.push(['PROBLEMA', problem]);
  if (problems.length === 0 && (adn !== undefined || confianca.ancoras !== undefined)) {
    lines.push(['arquivos', 'todos no lugar e legíveis por este usuário']);
  }
  terminal.out(`${tenant}\n`);
  for (const line of columns(lines)) terminal.out(`${printable(line)}\n`);
  return problems.length === 0 ? 0 : 1;
}

function eventosRows(tenant: string, { aCaminho, comProblema }: EventosContados): readonly [string, string][] {
  const describe = (counts: EventosContados['aCaminho']): string =>
    counts.map(([estado, count]) => `${estado} ${groupDigits(count)}`).join(', ');
  const rows: [string, string][] = [
    ['eventos', aCaminho.length === 0 ? 'nenhum a caminho' : `a caminho: ${describe(aCaminho)}`],
  ];
  const way = `nfse evento problemas --municipio ${tenant} os lista`;
  if (comProblema.length > 0) rows.push(['a conferir', `${describe(comProblema)}; ${way}`]);
  return rows;
}

function certificadoRows(certificado: MunicipioShown['certificado']): readonly [string, string][] {
  if (certificado === undefined) return [];
  const { titular, documento, emissor, inicio, fim } = certificado;
  return [
    ['titular', documento === undefined ? titular : `${titular}, ${documento}`],
    ['emissor', emissor],
    ['validade', `${inicio} a ${fim}`],
  ];
}

/** The registers with lines of the municipality. */
function cadastroRows(listas: MunicipioShown['listas']): [string, string][] {
  const others = Object.entries(listas).filter(([nome, count]) => nome !== 'servicos' && count > 0);
  return others.map(([nome, count]) => [LISTAS[nome as ListaNome].titulo.toLowerCase(), linhasText(count)]);
}

function linhasText(count: number): string {
  return count === 1 ? '1 linha' : `${groupDigits(count)} linhas`;
}

function notasOf(count: number): string {
  return count === 0 ? 'nenhuma nota' : count === 1 ? '1 nota' : `${groupDigits(count)} notas`;
}
