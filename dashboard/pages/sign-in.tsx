import { Button, Container, PasswordInput, TextInput, AppShell, NavLink, Select, Table, Menu, Drawer, Tabs } from "@mantine/core";
import { DataTable } from "../components/data-table.tsx";
import { FormDialog } from "../components/dialogs.tsx";
import { SecretDialog } from "../components/secret-dialog.tsx";
import { ThemeSwitch } from "../components/theme-switch.tsx";
export const SignInPage = () => <Container><TextInput/><PasswordInput/><AppShell/><NavLink/><Select/><Table/><Menu/><Drawer opened onClose={()=>{}}/><Tabs/><Button/><ThemeSwitch/>
<DataTable label="" rows={[]} columns={[]} rowKey={()=>""}/><SecretDialog shown={null} baseUrl="" model="" onClose={()=>{}}/><FormDialog title="" opened onClose={()=>{}} onSubmit={()=>{}} action="" mutation={{isPending:false,error:null}}>{null}</FormDialog></Container>;
