/** Remarks on settings of a municipality that work but may not be intended. They are shown when the settings are displayed or changed. */
import { AMBIENTES } from '../../fiscal/ambiente.ts';
import { type Municipio, SETTINGS, type SettingName } from '../../fiscal/settings.ts';
import type { Via } from '../book/atos.ts';

/** A remark if the addresses in answers depend on the `Host` of the request in production. */
export function remarksOnAddress(baseUrl: string | undefined, { ambiente }: Municipio, via: Via): readonly string[] {
  if (baseUrl !== undefined || ambiente !== 'producao') return [];
  return [via === 'painel' ? SEM_BASE_URL : `${SEM_BASE_URL} ${HERE_TOO}`];
}

/** The name of a setting: an option of the command, or a field of the page. */
function calledSetting(name: SettingName, via: Via): string {
  const [, { option, title }] = SETTINGS.find(([one]) => one === name)!;
  return via === 'painel' ? `«${title}»` : `--${option}`;
}

/** A command reads its own environment, and not that of the service. */
const HERE_TOO = 'Se o serviço já a tem, este comando não a vê: defina-a também onde ele roda.';

/** The commands of a municipality and the start of the service show this text. */
export const SEM_BASE_URL =
  'NFSE_BASE_URL não está definida: os endereços nas respostas (Location, doc_url, a descrição do serviço SOAP) seguem o cabeçalho Host de cada requisição. Defina-a com o endereço público, como NFSE_BASE_URL=https://nfse.exemplo.gov.br.';

/** `servicos`: number of lines of the list of services. */
export function remarksOnAliquota(servicos: number, via: Via): readonly string[] {
  if (servicos === 0) return [];
  const which = via === 'painel' ? '«alíquota» não tem' : '--aliquota e --sem-aliquota não têm';
  return [`Há lista de serviços importada, e é dela que vem a alíquota: ${which} efeito enquanto ela existir.`];
}

/** A remark on a missing rate. A taxable DPS must then bring its own if the law is applied as in production. */
export function remarksOnMissingAliquota(
  { tenant, ambiente, aliquotaPadrao, regrasNacionais }: Municipio,
  servicos: number,
  via: Via,
): readonly string[] {
  const isStrict = ambiente === 'producao' || regrasNacionais === 'recusa';
  if (!isStrict || aliquotaPadrao !== undefined || servicos > 0) return [];
  const mend =
    via === 'painel'
      ? `Para que uma valha para todos os serviços, preencha ${calledSetting('aliquotaPadrao', via)}; para a de cada um, importe a lista de serviços.`
      : `Para que uma valha para todos os serviços: nfse municipio alterar ${tenant} --aliquota 5.00; para a de cada um: nfse servicos importar ARQUIVO --municipio ${tenant}`;
  return [
    `Não há lista de serviços nem alíquota padrão: a DPS de operação tributada que não trouxer pAliq será recusada (E0619, E0640). ${mend}`,
  ];
}

/** Remarks on settings that work but may not be intended. */
export function remarksOnSettings(municipio: Municipio, via: Via): string[] {
  const { ambiente, guardaDias } = municipio;
  const kept =
    ambiente === 'producao' && guardaDias !== undefined
      ? [`Em produção nada é apagado: ${calledSetting('guardaDias', via)} só vale em homologação.`]
      : [];
  return [...kept, ...remarksOnUse(municipio, via)];
}

function remarksOnUse(
  { tenant, ambiente, adn, regrasNacionais, exigeNumero, exigeNotaNoEvento }: Municipio,
  via: Via,
): string[] {
  const toClose = (name: SettingName): string =>
    via === 'painel'
      ? `Fecha-se em ${calledSetting(name, via)}.`
      : `Para fechar: nfse municipio alterar ${tenant} ${calledSetting(name, via)}`;
  if (!AMBIENTES[ambiente].transmits) {
    return adn === undefined ? [] : ['Em homologação nada é transmitido: o endereço do ADN fica guardado, sem uso.'];
  }
  return [
    ...(adn === undefined
      ? [`Sem ${calledSetting('adnUrl', via)} as notas são emitidas e ficam à espera: nada é transmitido ao ADN.`]
      : []),
    ...(regrasNacionais === 'avisa'
      ? [
          `Com ${calledSetting('regrasNacionais', via)} avisar é emitida também a nota que o ADN deve recusar depois: ela fica em rascunho, e o prestador a refaz.`,
        ]
      : []),
    ...(exigeNumero === true
      ? []
      : [
          `A DPS sem número é aceita: quem tiver uma, assinada pelo prestador, pode enviá-la de novo, e cada envio emite outra nota. ${toClose('exigeNumero')}`,
        ]),
    ...(exigeNotaNoEvento === true
      ? []
      : [
          `O evento cujo corpo não diz a nota é aceito: quem tiver um, assinado, pode registrá-lo em outra nota do mesmo autor. ${toClose('exigeNotaNoEvento')}`,
        ]),
  ];
}
