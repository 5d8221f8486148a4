/**
 * Certificates of the municipality by the console: sent, tried, put to use and deleted. A new one lies beside the one in use until it is put
 * to use; the paths of both are settings, so the service changes over in seconds (D-833).
 */

import { municipalMoment } from '../../base/world/gather-facts.ts';
import { type CertificadoShown, inspectAdn, nameCertificado, nameHolder } from '../../base/world/municipio-files.ts';
import {
  type Configured,
  municipioNamed,
  type RegistryWorld,
  readMunicipio,
  switchCertificado,
} from '../../base/world/municipios.ts';
import { needMotivo, type PorMao, type Problem, readMotivo } from '../../base/world/operator.ts';
import type { World } from '../../base/world/world.ts';
import { type Certificate, certificatesOfPem, isHeldBy } from '../../documents/certificate.ts';
import { loadSigner } from '../../documents/key-files.ts';
import { openPfxApart } from '../../documents/pfx-apart.ts';
import { AMBIENTES } from '../../fiscal/ambiente.ts';
import { brazilianMoment, formatDayInBrazil } from '../../fiscal/moment.ts';
import type { AcessoAdn, Municipio } from '../../fiscal/settings.ts';
import { upperFirst } from '../../fiscal/words.ts';
import {
  type Arquivos,
  arquivosOf,
  dropCertificado,
  isCertificadoId,
  keepCertificado,
  listCertificados,
  readKeptAt,
} from './certificados.files.ts';
import { type TesteDoAdn, testAccess } from './testar-adn.ts';

/** `certificados`: the folder of all municipalities on this machine. */
export type CertificadosWorld = RegistryWorld & { readonly certificados: string };

/** The national environment, where a municipality without an address of its own transmits (D-834). */
export const ADN_NACIONAL = 'https://adn.nfse.gov.br';

/** A certificate that was sent. `impedimentos` keep it from use; `duvidas` ask for a reason. */
export type Guardado = {
  readonly id: string;
  readonly isEmUso: boolean;
  /** Form `DD/MM/AAAA HH:MM:SS`, in the time zone of the municipality. */
  readonly enviado: string;
  /** Undefined: its files cannot be read. */
  readonly certificado: CertificadoShown | undefined;
  readonly impedimentos: readonly string[];
  readonly duvidas: readonly string[];
};

/** The certificates that were sent, the one with the latest end first. */
export async function listGuardados(world: CertificadosWorld, slug: string): Promise<readonly Guardado[]> {
  const municipio = await readMunicipio(world, slug);
  const all = await listCertificados(world.certificados, municipio.tenant);
  const now = await currentOf(municipio);
  const found = await Promise.all(all.map((one) => describe(world, municipio, one, now)));
  return found.toSorted((one, other) => (other.certificado?.dias ?? 0) - (one.certificado?.dias ?? 0));
}

/** The certificate in use; undefined: there is none, or it cannot be read. */
async function currentOf({ adn }: Municipio): Promise<Certificate | undefined> {
  if (adn === undefined) return undefined;
  return loadSigner(adn.chaves).then(
    ({ certificate }) => certificate,
    () => undefined,
  );
}

/** The access to the ADN by other keys. */
function accessBy({ adn }: Municipio, { certificado, chave }: Arquivos): AcessoAdn {
  return { url: adn?.url ?? ADN_NACIONAL, ca: adn?.ca, chaves: { certificado, chave } };
}

async function describe(
  { now }: CertificadosWorld,
  municipio: Municipio,
  files: Arquivos,
  current: Certificate | undefined,
): Promise<Guardado> {
  const { confianca, ambiente, codigoIbge } = municipio;
  const isEmUso = isUsed(municipio, files);
  const [{ problems, avisos, certificado }, foreign, keptAt] = await Promise.all([
    inspectAdn(accessBy(municipio, files), confianca, now()),
    isEmUso ? undefined : findForeign(municipio, files, current),
    readKeptAt(files),
  ]);
  return {
    ...{ id: files.id, isEmUso, certificado, enviado: brazilianMoment(municipalMoment(codigoIbge, keptAt)) },
    impedimentos: foreign === undefined ? problems : [...problems, foreign],
    duvidas: AMBIENTES[ambiente].transmits ? avisos : [],
  };
}

function isUsed({ adn }: Municipio, { chave }: Arquivos): boolean {
  return adn !== undefined && 'chave' in adn.chaves && adn.chaves.chave === chave;
}

/** Why a certificate is not of the municipality, whose CNPJ is that of the certificate in use (D-855). A rehearsal may try any. */
async function findForeign(
  { ambiente }: Municipio,
  files: Arquivos,
  current: Certificate | undefined,
): Promise<string | undefined> {
  const before = current?.holder;
  if (before === undefined || !AMBIENTES[ambiente].transmits) return undefined;
  const holder = await loadSigner(files).then(
    ({ certificate }) => certificate.holder,
    () => undefined,
  );
  if (holder !== undefined && isHeldBy(holder, before.documento)) return undefined;
  const whose = holder === undefined ? 'não traz CNPJ nem CPF' : `é do ${nameHolder(holder)}`;
  return `O município assina com o ${nameHolder(before)}, e este certificado ${whose}: não é do município, e aqui não se põe em uso. Se o engano está no que está em uso, quem opera o serviço o troca com o comando nfse municipio alterar.`;
}

/** The roots and the revocation lists of a municipality. `ancoras` undefined: the national ones; `listas` undefined: none are asked. */
export type TrustShown = {
  readonly ancoras: string | undefined;
  /** `proxima`: day on which the next list is due, `DD/MM/AAAA`. */
  readonly listas: readonly { readonly emissor: string; readonly proxima: string | undefined }[] | undefined;
};

export async function describeTrust(
  world: CertificadosWorld & Pick<World, 'trust'>,
  slug: string,
): Promise<TrustShown> {
  const municipio = await readMunicipio(world, slug);
  const listas = world
    .trust(municipio)
    .lists()
    ?.map(({ emissor, proxima }) => ({
      emissor,
      proxima: proxima === undefined ? undefined : formatDayInBrazil(proxima),
    }));
  return { ancoras: municipio.confianca.ancoras, listas };
}

/** `isNew` false: the certificate was there already. */
export type Recebido = { readonly id: string; readonly isNew: boolean };

/** Opens a sent PKCS#12, and keeps its certificate and key. The password is kept nowhere. */
export async function receiveCertificado(
  world: CertificadosWorld,
  slug: string,
  { pfx, senha }: { readonly pfx: Uint8Array; readonly senha: string },
  by: PorMao,
): Promise<Recebido | Problem> {
  const { tenant } = await municipioNamed(world, slug);
  if (pfx.length === 0) return { problem: 'O arquivo está vazio. Escolha o .pfx ou .p12 do certificado.' };
  if (senha === '') return { problem: 'Falta a senha com que o certificado foi exportado.' };
  if (Buffer.from(pfx.subarray(0, 64)).includes('-----BEGIN')) return { problem: IS_PEM };
  const [tried] = await world.store.contagens.take('certificados', [{ rede: tenant, tamanho: TRIES_MAX, custo: 1 }]);
  if (tried?.coube === false) return { problem: 'Houve envios demais neste minuto. Espere um pouco e tente de novo.' };
  if ((await listCertificados(world.certificados, tenant)).length >= GUARDADOS_MAX) {
    return { problem: `Há ${GUARDADOS_MAX} certificados guardados. Apague antes os que não usa.` };
  }
  const opened = await openPfxApart(pfx, senha);
  if ('problem' in opened) return { problem: upperFirst(opened.problem) };
  const [certificate] = certificatesOfPem(opened.certificado);
  if (certificate === undefined) return { problem: 'O arquivo não traz certificado.' };
  const { fim, fingerprint, emissor } = certificate;
  if (fim < world.now()) {
    return { problem: `O certificado venceu em ${formatDayInBrazil(fim)}. Envie um que esteja em vigor.` };
  }
  const current = await currentOf(await readMunicipio(world, slug));
  if (current?.fingerprint === fingerprint) {
    return { problem: 'Este certificado é o que já está em uso: não há o que enviar.' };
  }
  const id = fingerprint.slice(0, 16);
  const isNew = await keepCertificado(world.certificados, tenant, id, opened);
  const depois = { certificado: id, emissor, 'vale até': formatDayInBrazil(fim) };
  if (isNew) await record(world, tenant, by, 'certificado enviado', depois);
  return { id, isNew };
}

/** Files opened a minute for a municipality: each takes a process. */
const TRIES_MAX = 10;
/** A municipality needs the one in use and the next. */
const GUARDADOS_MAX = 20;

const IS_PEM =
  'O arquivo é um PEM, e aqui se envia o .pfx ou .p12, que traz o certificado e a chave sob senha. Exporte-o assim, ou peça a quem opera o serviço.';

/** Signs a probe and connects to the ADN by a certificate that was sent; nothing is transmitted. */
export async function testCertificado(
  world: CertificadosWorld,
  slug: string,
  id: string,
  by: PorMao,
): Promise<TesteDoAdn | Problem> {
  const municipio = await readMunicipio(world, slug);
  const files = await filesOf(world, municipio, id);
  if (files === undefined) return GONE;
  const foreign = isUsed(municipio, files)
    ? undefined
    : await findForeign(municipio, files, await currentOf(municipio));
  return testAccess(world, { ...municipio, adn: accessBy(municipio, files) }, by, foreign);
}

/** The use of a certificate, before it happens. */
export type UsoPrevisto = {
  readonly arquivos: Arquivos;
  readonly certificado: CertificadoShown;
  readonly duvidas: readonly string[];
  /** The one in use, in one line; undefined: there is none that can be read, and the CNPJ of the municipality is not known. */
  readonly antes: string | undefined;
  /** The file of the one in use, if it did not come by the console. */
  readonly arquivoDeAntes: string | undefined;
};

export const JA_EM_USO: Problem = { problem: 'Este certificado já está em uso.' };

/** The use of a certificate as it would be. Doubts ask for a reason, which stays in the trail. */
export async function foreseeUso(
  world: CertificadosWorld,
  slug: string,
  id: string,
  by: PorMao,
): Promise<UsoPrevisto | Problem> {
  const municipio = await readMunicipio(world, slug);
  const arquivos = await filesOf(world, municipio, id);
  if (arquivos === undefined) return GONE;
  const { isEmUso, certificado, impedimentos, duvidas } = await describe(
    world,
    municipio,
    arquivos,
    await currentOf(municipio),
  );
  if (isEmUso) return JA_EM_USO;
  if (impedimentos.length > 0 || certificado === undefined) return { problem: impedimentos.join(' ') };
  const read = duvidas.length > 0 ? needMotivo(by) : readMotivo(by);
  if ('problem' in read) return read;
  const before = municipio.adn && (await inspectAdn(municipio.adn, municipio.confianca, world.now())).certificado;
  const antes = before && nameCertificado(before);
  return { arquivos, certificado, duvidas, antes, arquivoDeAntes: await findFileOutside(world, municipio) };
}

/** The file of the certificate in use, which an operator named; undefined: it came by the console, or there is none. */
export async function findFileOutside(
  { certificados }: CertificadosWorld,
  municipio: Municipio,
): Promise<string | undefined> {
  const { adn, tenant } = municipio;
  if (adn === undefined) return undefined;
  const all = await listCertificados(certificados, tenant);
  if (all.some((one) => isUsed(municipio, one))) return undefined;
  return 'pfx' in adn.chaves ? adn.chaves.pfx : adn.chaves.certificado;
}

/** Puts a certificate to use, and tells the use as it was foreseen. */
export async function useCertificado(
  world: CertificadosWorld,
  slug: string,
  id: string,
  by: PorMao,
): Promise<UsoPrevisto | Problem> {
  const foreseen = await foreseeUso(world, slug, id, by);
  if ('problem' in foreseen) return foreseen;
  const { certificado, chave } = foreseen.arquivos;
  const done: Configured = await switchCertificado(world, slug, { certificado, chave, url: ADN_NACIONAL }, by);
  if ('problems' in done) return { problem: done.problems.map(({ texto }) => texto).join(' ') };
  world.wake?.(done.municipio.tenant);
  return foreseen;
}

/** Deletes a certificate that is not in use, with its key. */
export async function deleteCertificado(
  world: CertificadosWorld,
  slug: string,
  id: string,
  by: PorMao,
): Promise<Problem | undefined> {
  const municipio = await readMunicipio(world, slug);
  const files = await filesOf(world, municipio, id);
  if (files === undefined) return GONE;
  const { adn, tenant } = municipio;
  if (Object.values(adn?.chaves ?? {}).includes(files.chave)) {
    return { problem: 'Este certificado está em uso. Ponha antes outro no lugar.' };
  }
  const read = needMotivo(by);
  if ('problem' in read) return read;
  await dropCertificado(files);
  await record(world, tenant, by, 'certificado apagado', { certificado: id });
  return undefined;
}

const GONE: Problem = {
  problem: 'Este certificado não está nesta máquina: foi apagado, ou enviado por outra. Envie-o de novo.',
};

/** The files of a certificate on this machine; undefined: it is not here. */
async function filesOf(
  { certificados }: CertificadosWorld,
  { tenant }: Municipio,
  id: string,
): Promise<Arquivos | undefined> {
  if (!isCertificadoId(id)) return undefined;
  const all = await listCertificados(certificados, tenant);
  return all.some((one) => one.id === id) ? arquivosOf(certificados, tenant, id) : undefined;
}

function record(world: CertificadosWorld, tenant: string, by: PorMao, acao: string, depois: object): Promise<void> {
  return world.store.atos.record(tenant, [
    { ...by, em: world.now(), objeto: 'municipio', chave: tenant, acao, depois },
  ]);
}
