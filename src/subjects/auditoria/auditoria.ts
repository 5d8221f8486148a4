/**
 * The audit chain as the operator uses it. It is sealed each day with the municipality's certificate and verified from end to end. Its
 * seals can be exported, so that their holder can show that the chain was not rewritten (D-668).
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { NovoAto } from '../../base/book/atos.ts';
import { PLACED_MAX } from '../../base/book/auditoria-elos.ts';
import type { Municipio } from '../../base/book/municipios.ts';
import { municipalMoment } from '../../base/world/gather-facts.ts';
import { openOwnTrusts } from '../../base/world/municipio-files.ts';
import type { RegistryWorld } from '../../base/world/municipios.ts';
import { type PorMao, type Problem, readMotivo } from '../../base/world/operator.ts';
import type { World } from '../../base/world/world.ts';
import { verifyCms } from '../../documents/cms.ts';
import { signCms } from '../../documents/cms-sign.ts';
import { type ChainedSigner, loadSigner } from '../../documents/key-files.ts';
import { makeFolder, writeFileFor } from '../../documents/new-files.ts';
import { AMBIENTES } from '../../fiscal/ambiente.ts';
import { addDays } from '../../fiscal/moment.ts';
import { contraditasOf } from '../notas/nota-da-nfse.ts';
import { ACEITO, type Achado } from './aceites.rows.ts';
import {
  type AchadoDito,
  type Andamento,
  type Conferida,
  eloOfTexto,
  type JulgarSelo,
  type Selo,
} from './conferir.rows.ts';
import type { ContaDaChave } from './pela-chave.rows.ts';

export type { Andamento };

const noMunicipio = (slug: string): Problem => ({
  problem: `Não há município ${slug}: nfse municipio listar diz quais há.`,
});

/**
 * Seals yesterday's chain of each municipality that has a certificate and no seal for that day. A failure of one does not stop the others.
 */
export async function sealDays(world: Pick<World, 'store' | 'now' | 'log'>): Promise<void> {
  for (const municipio of await world.store.municipios.list()) {
    if (municipio.adn === undefined) continue;
    const { tenant } = municipio;
    try {
      await sealDay(world, municipio);
    } catch (error) {
      const about = { tenant, err: (error as Error).message };
      world.log.warn(about, 'o dia que passou não foi selado na corrente de auditoria; tenta-se mais tarde');
    }
  }
}

async function sealDay({ store, now }: Pick<World, 'store' | 'now'>, municipio: Municipio): Promise<void> {
  const { tenant, codigoIbge, adn } = municipio;
  const dia = addDays(municipalMoment(codigoIbge, now()).date, -1);
  const last = (await store.auditoria.readState(tenant))?.ultimoSelo;
  if (last != null && last.dia >= dia) return;
  while ((await store.auditoria.place(tenant)) === PLACED_MAX);
  const fim = await store.auditoria.readFim(tenant);
  if (fim === undefined) return;
  const signer = await loadSigner(adn!.chaves);
  const em = now();
  const texto = textOfSelo(municipio, dia, fim, em);
  const assinatura = signSelo(texto, signer, em);
  await store.auditoria.keepSelo(tenant, { dia, lugar: fim.lugar, texto, assinatura, em });
}

function textOfSelo(
  { tenant, codigoIbge }: Municipio,
  dia: string,
  { lugar, elo }: { readonly lugar: number; readonly elo: string },
  em: number,
): string {
  const said = { auditoria: 1, municipio: tenant, codigo_ibge: codigoIbge ?? null, dia, lugar, elo };
  return `${JSON.stringify({ ...said, em: new Date(em).toISOString() })}\n`;
}

/** Throws if the certificate is not valid at that moment. */
function signSelo(texto: string, signer: ChainedSigner, em: number): Buffer {
  const { inicio, fim } = signer.certificate;
  if (em < inicio || em > fim) throw new Error('o certificado do município não vale agora');
  return signCms(Buffer.from(texto), signer);
}

/** A file with a seal that was kept elsewhere, and the result of its verification. */
type SeloConferido = { readonly selo: string; readonly problema: string | undefined };

export type ContaDaCorrente = Omit<Conferida, 'selos' | 'abertaEm' | 'esperando' | 'arquivos' | 'naoComparadas'> & {
  readonly aberta_em: string | null;
  /** Files of the archive; their rows were verified too, except in files with a problem. */
  readonly arquivos: readonly { readonly nome: string; readonly linhas: number; readonly problema: string | null }[];
  readonly selos: readonly { readonly dia: string; readonly lugar: number; readonly problema: string | null }[];
  readonly guardados: readonly SeloConferido[];
  readonly situacao: Situacao;
  /** Checks that cannot be made yet, each with its remedy, in Portuguese. */
  readonly ainda_nao: readonly string[];
  /** Whether everything was verified, without a finding. */
  readonly confere: boolean;
};

/** Findings take precedence over checks that cannot be made yet. */
type Situacao = 'confere' | 'nao_confere' | 'ainda_nao';

/** Verifies the chain of a municipality, and the given files of seals that were kept elsewhere. */
export async function conferirAuditoria(
  { store, now }: RegistryWorld,
  slug: string,
  files: readonly string[],
  andamento: Andamento,
): Promise<ContaDaCorrente | Problem> {
  const municipio = await store.municipios.readFresh(slug);
  if (municipio === undefined) return noMunicipio(slug);
  const faultOf = await judgeSelos(municipio);
  const read = await Promise.all(files.map((file) => readSelo(file, faultOf)));
  const missing = read.find((one): one is Problem => 'problem' in one);
  if (missing !== undefined) return missing;
  const kept = read.filter((one): one is SeloLido => !('problem' in one));
  const ends = kept.flatMap(({ fim }) => fim ?? []);
  const verified = await store.auditoria.verify(slug, ends, {
    ...{ andamento, isSelo: isSelo(faultOf), comparar: contraditasOf },
  });
  const { selos: stored, abertaEm, esperando, arquivos: doArquivo, naoComparadas, ...conferida } = verified;
  // Files of rehearsals are no fiscal documents, so anybody may delete them.
  const mayGo = AMBIENTES[municipio.ambiente].guardaDias !== undefined;
  const arquivos = doArquivo.map(({ nome, linhas, problema, isAusente }) => {
    return { nome, linhas, problema: (isAusente && mayGo ? undefined : problema) ?? null };
  });
  const brokenIn = (some: readonly Achado[]) =>
    new Set(some.flatMap(({ tipo, lugar }) => (tipo === 'selo_alterado' ? [lugar] : [])));
  const broken = brokenIn(conferida.achados);
  const invalid = new Set(conferida.achados.flatMap(({ tipo, chave }) => (tipo === 'selo_invalido' ? chave : [])));
  // A seal that was kept elsewhere is reported as broken even if the finding was accepted.
  const brokenAtAll = brokenIn([...conferida.achados, ...conferida.aceitos]);
  const selos = stored.map((selo) => {
    const own = invalid.has(selo.dia) || faultOf(selo) === UNKNOWN_SIGNER ? faultOf(selo) : undefined;
    const problema = own ?? (broken.has(selo.lugar) ? NOT_THROUGH : undefined);
    return { dia: selo.dia, lugar: selo.lugar, problema: problema ?? null };
  });
  const guardados = kept.map(({ selo, problema, fim }) => ({
    selo,
    problema: problema ?? (fim !== undefined && brokenAtAll.has(fim.lugar) ? NOT_THROUGH : undefined),
  }));
  // Faults of the database's own seals are findings already.
  const faults = guardados.filter(({ problema }) => problema !== undefined && problema !== UNKNOWN_SIGNER).length;
  const unread = doArquivo.filter(({ isDanificado }, place) => !isDanificado && arquivos[place]!.problema !== null);
  const ainda_nao = [
    ...(abertaEm === null ? [NOT_OPEN] : []),
    ...(esperando > 0 ? [notPlaced(esperando)] : []),
    ...(naoComparadas === undefined ? [] : [notCompared(naoComparadas)]),
    ...(unread.length > 0 ? [NOT_READ] : []),
    ...(conferida.chave.desde === undefined && conferida.chave.outras.length > 0 ? [notKeyed(conferida.chave)] : []),
    ...([...selos, ...guardados].some(({ problema }) => problema === UNKNOWN_SIGNER) ? [NOT_KNOWN] : []),
  ];
  const found = conferida.total + faults;
  const situacao = found > 0 ? 'nao_confere' : ainda_nao.length > 0 ? 'ainda_nao' : 'confere';
  // A verification that could not look at everything leaves the last result.
  if (situacao !== 'ainda_nao') await store.auditoria.noteVerified(slug, now(), conferida.fim?.lugar ?? 0, found);
  return {
    ...{ ...conferida, aberta_em: abertaEm?.toISOString() ?? null, arquivos, selos, guardados },
    ...{ situacao, ainda_nao, confere: situacao === 'confere' },
  };
}

const NOT_OPEN =
  'a corrente ainda conta o que já estava no banco: nfse serve o faz em segundos; depois de uma atualização, começa um quarto de hora após a migração';
const notPlaced = (esperando: number): string =>
  `${esperando === 1 ? 'uma entrada espera' : `${esperando} entradas esperam`} há mais de um minuto por um lugar na corrente: quem o dá é nfse serve (ou nfse transmitir), que não está no ar ou não alcança o banco`;
const notCompared = (why: string): string =>
  `as linhas não foram todas comparadas com o que as entradas dizem: a verificação precisa de espaço temporário, que não pôde gravar ou reler (${why}); libere espaço ali, ou dê em TMPDIR uma pasta de outro disco`;
const NOT_READ = 'falta ler o que está nos arquivos ditos acima: dê NFSE_ARQUIVO a este comando e ponha o lugar no ar';
const notKeyed = ({ outras }: ContaDaChave): string =>
  `as entradas são autenticadas por ${outras.length === 1 ? 'uma chave' : 'chaves'} (${outras.join(', ')}) que este comando não tem, e delas não se sabe quem as escreveu: dê o comando onde está o auditoria.chave do serviço (em NFSE_DATA_DIR), como quem o pode ler`;
const NOT_KNOWN =
  'não se sabe quem assinou os selos: configure o certificado do município, ou dê o comando como o usuário do serviço, que o lê';

/** The findings that were accepted. */
export type Aceitos = { readonly aceitos: readonly AchadoDito[] };

/**
 * Accepts findings by their `id`. The chain is verified once more, so that only present findings are accepted. Each becomes an act, which
 * the chain records, and every later verification names it.
 */
export async function aceitarAchados(
  { store, now }: RegistryWorld,
  slug: string,
  ids: readonly string[],
  by: PorMao,
  andamento: Andamento,
): Promise<Aceitos | Problem> {
  const municipio = await store.municipios.readFresh(slug);
  if (municipio === undefined) return noMunicipio(slug);
  const read = readMotivo({ ...by, motivo: by.motivo ?? '' }, 'Diga o processo ou a razão.');
  if ('problem' in read) return read;
  const motivo = read.motivo!;
  const verified = await store.auditoria.verify(slug, [], {
    ...{ andamento, isSelo: isSelo(await judgeSelos(municipio)), comparar: contraditasOf },
  });
  const { achados, total, fim, aceitos: before, naoComparadas } = verified;
  if (naoComparadas !== undefined) return { problem: `Nada foi aceito: ${notCompared(naoComparadas)}.` };
  const known = new Map(achados.map((achado) => [achado.id, achado]));
  const missing = ids.filter((id) => !known.has(id));
  if (missing.length > 0) {
    const already = missing.filter((id) => before.some((one) => one.id === id));
    const why =
      already.length === missing.length
        ? `Já aceito: ${already.join(', ')}.`
        : `Não há agora o achado ${missing.join(', ')} em ${slug}: nfse auditoria verificar ${slug} diz o código de cada um.`;
    return { problem: `${why} Nada foi aceito.` };
  }
  const aceitos = [...new Set(ids)].map((id) => known.get(id)!);
  const atos = aceitos.map(({ id, tipo, tabela, chave, lugar, visto }): NovoAto => {
    const depois = { tipo, tabela, chave, lugar, visto };
    return { em: now(), quem: by.quem, via: by.via, motivo, objeto: 'auditoria', chave: id, acao: ACEITO, depois };
  });
  await store.atos.record(slug, atos);
  await store.auditoria.noteVerified(slug, now(), fim?.lugar ?? 0, total - aceitos.length);
  return { aceitos };
}

const NOT_THROUGH = 'a corrente não passa por ele: foi reescrita, ou encurtada';

type DeSelo = Pick<Selo, 'texto' | 'assinatura' | 'lugar' | 'dia'>;

/** Names the fault of a seal by itself; undefined: none. */
type FaltaDeSelo = (selo: DeSelo) => string | undefined;

/** Judges by the certificate with which the municipality signs now, and by its authorities. */
async function judgeSelos(municipio: Municipio): Promise<FaltaDeSelo> {
  const { tenant, adn, confianca } = municipio;
  const own = adn && (await loadSigner(adn.chaves).catch(() => undefined))?.certificate;
  const trusts = openOwnTrusts(confianca);
  return ({ texto, assinatura, lugar, dia }) => {
    const { faults, certificate, extra } = verifyCms(assinatura.toString('base64'), Buffer.from(texto), 'selo');
    if (faults.length > 0 || certificate === undefined) return 'a assinatura não é deste texto';
    const said = readTexto(texto);
    if (said?.municipio !== tenant || said.lugar !== lugar || said.dia !== dia) return 'o texto não é o deste selo';
    if (own === undefined) return UNKNOWN_SIGNER;
    if (certificate.fingerprint === own.fingerprint) return undefined;
    // An earlier certificate must have the same holder and a trusted authority.
    const em = Date.parse(said.em);
    const isHolders = own.holder !== undefined && certificate.holder?.documento === own.holder.documento;
    const isTrusted = isHolders && trusts.some((trust) => trust.judge(certificate, em, extra).kind === 'trusted');
    return isTrusted ? undefined : 'quem o assinou não é o município, nem por um certificado anterior dele';
  };
}

const UNKNOWN_SIGNER =
  'não se sabe se foi o município que o assinou: o certificado dele não está configurado, ou não pode ser lido por quem deu o comando';

const isSelo =
  (faultOf: FaltaDeSelo): JulgarSelo =>
  (selo) =>
    [undefined, UNKNOWN_SIGNER].includes(faultOf(selo));

type Dito = {
  readonly municipio: string;
  readonly dia: string;
  readonly lugar: number;
  readonly elo: string;
  readonly em: string;
};

function readTexto(texto: string): Dito | undefined {
  try {
    return JSON.parse(texto) as Dito;
  } catch {
    return undefined;
  }
}

type SeloLido = SeloConferido & { readonly fim?: { readonly lugar: number; readonly elo: string } };

/** Reads the text of a seal and the signature beside it; either file may be named. A missing file says nothing of the chain. */
async function readSelo(named: string, faultOf: FaltaDeSelo): Promise<SeloLido | Problem> {
  const file = named.replace(/\.p7s$/, '.json');
  const beside = file.replace(/\.json$/, '.p7s');
  const fault = (problema: string): SeloLido => ({ selo: file, problema });
  try {
    const [texto, assinatura] = await Promise.all([readFile(file, 'utf8'), readFile(beside)]);
    const said = readTexto(texto);
    if (said === undefined || typeof said.lugar !== 'number' || typeof said.elo !== 'string') {
      return fault('não é um selo de nfse auditoria selos');
    }
    const problema = faultOf({ texto, assinatura, lugar: said.lugar, dia: said.dia });
    return { selo: file, problema, fim: { lugar: said.lugar, elo: eloOfTexto(texto).toString('hex') } };
  } catch (error) {
    const { code, path: missing } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    const problem =
      code === 'ENOENT'
        ? `Não há ${missing}: o texto do selo (.json) e a assinatura (.p7s) ficam lado a lado.`
        : `${missing ?? file} não pode ser lido (${code}).`;
    return { problem: `${problem} Nada foi conferido.` };
  }
}

/** Writes the seals of a municipality into a folder, a text and a signature each; returns their number. */
export async function exportarSelos(
  { store }: RegistryWorld,
  slug: string,
  folder: string,
): Promise<{ readonly selos: number } | Problem> {
  if ((await store.municipios.readFresh(slug)) === undefined) return noMunicipio(slug);
  const selos = await store.auditoria.listSelos(slug);
  if (selos.length > 0) await makeFolder(folder);
  for (const { dia, texto, assinatura } of selos) {
    const name = path.join(folder, `selo-${slug}-${dia}`);
    await writeFileFor(`${name}.json`, texto);
    await writeFileFor(`${name}.p7s`, assinatura);
  }
  return { selos: selos.length };
}

const TITLES: Readonly<Record<Achado['tipo'], string>> = {
  entrada_alterada: 'o que a entrada diz não é o que o seu hash diz',
  elo_quebrado: 'a entrada não segue a anterior: uma das duas foi mudada, trocada de lugar ou refeita',
  entrada_ausente: 'a entrada não está na corrente',
  entrada_forjada: 'a entrada não é do serviço: traz um autenticador que a chave não faz, e o que ela diz não vale',
  entrada_sem_chave:
    'a entrada não é do serviço, que desde antes dela autentica o que grava: foi escrita por fora, ou por um programa sem a chave, e o que ela diz não vale',
  entrada_de_outra_chave:
    'a entrada traz o autenticador de uma chave que este comando não tem: de outra máquina da instalação, cujas chaves se juntam num arquivo só (auditoria.chave), ou de quem a inventou; o que ela diz não vale',
  abertura_repetida:
    'a entrada conta de novo o que havia antes da corrente, que já estava contado: alguém mudou auditoria_ate, e ela não vale',
  linha_recontada:
    'a entrada conta de outro modo uma linha que já estava contada, e que nunca muda, ou não muda no começo da corrente: alguém mudou a linha entre as duas, ou escreveu a entrada para o encobrir, e vale a de antes',
  apagada_sem_ato:
    'a entrada diz que foi apagado o que não se apaga, ou que só se apaga por um ato, e nenhum ato do histórico o diz',
  fim_alterado: 'a corrente não termina onde devia: faltam as últimas entradas, ou o fim foi mudado',
  fim_trocado:
    'quando o serviço deu o lugar a esta entrada, a corrente não terminava onde ele a deixou: alguém tirou entradas do fim, refez os elos ou mudou auditoria_ate',
  lugar_alheio:
    'o lugar da entrada não foi o serviço que o deu: alguém a trocou de lugar, refez os elos, ou tirou o autenticador do lugar',
  selo_alterado: 'a corrente não passa pelo selo deste lugar',
  selo_invalido: 'a assinatura do selo não é do seu texto, o texto é de outro selo, ou quem assinou não é o município',
  objeto_estranho:
    'está no banco, não é do serviço, e dele não se pode esperar que diga ou grave o que está nas tabelas',
  linha_alterada: 'a linha não é a que a última entrada sobre ela diz',
  linha_apagada: 'a linha não está no banco, e nenhuma entrada diz que foi apagada',
  linha_sem_entrada: 'a linha está no banco, e nenhuma entrada fala dela',
  linha_nao_segue: 'a linha não segue das notas e dos eventos, ou falta',
  nota_contradita: 'a coluna não diz o que a NFS-e guardada diz',
  documento_danificado: 'os documentos não se abrem, ou não são os da nota',
  arquivo_danificado: 'o arquivo do mês não é o que foi escrito, e não se lê até o fim',
};

/** A finding as text for a person. */
export function describeAchado({ tipo, tabela, chave, lugar, em, como }: Achado): string {
  const row = tabela === undefined ? '' : `${tabela} ${(chave ?? []).join(' ')}: `;
  const entry =
    lugar === undefined
      ? ''
      : lugar === 0
        ? ' (entrada ainda sem lugar)'
        : ` (entrada ${lugar}${em === undefined ? '' : `, de ${em}`})`;
  return `${row}${TITLES[tipo]}${como === undefined ? '' : `: ${como}`}${entry}`;
}
