// The operator's own account: an operator may belong to no organization, whose settings would otherwise show it.
import { Page } from "../../../components/page.tsx";
import { operatorAccountTexts } from "./texts.ts";
import { operatorPageNames } from "../../../components/texts.ts";
import { OwnAccount } from "../../settings/account.tsx";

export const AccountPage = () => (
  <Page title={operatorPageNames.account} lead={operatorAccountTexts.lead}>
    <OwnAccount />
  </Page>
);
